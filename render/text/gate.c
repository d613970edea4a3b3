/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/text/gate.h"

#include <langinfo.h>
#include <unistd.h>

#include "model/xalloc.h"
#include "render/text/utf8.h"

struct gate {
	FILE *below;
	bool closes_below, is_editor, is_terminal, is_standard;
	/* An incomplete character or mark, and a 0 behind it. */
	char held[32];
	size_t num_held;
};

static bool is_ascii;           /* what terminals show */
static struct gate standard[2]; /* of output and errors, as long as the process lives */

/* ---- Marks ---- */

static const char parameters[] = "0123456789;";
static const char kinds[] = "mrK";

void gate_color(FILE *out, const char *format, ...)
{
	va_list ap;

	fputc('\0', out);
	va_start(ap, format);
	vfprintf(out, format, ap);
	va_end(ap);
	fputc('m', out);
}

void gate_return(FILE *out)
{
	fputc('\0', out);
	fputc('r', out);
}

void gate_erase_line(FILE *out)
{
	fputc('\0', out);
	fputc('K', out);
}

const char *gate_skip(const char *text, const char *end)
{
	for (text++; text < end && *text && strchr(parameters, *text); text++)
		;
	return text + (text < end);
}

/* The sequence for a complete mark. */
static void pass_mark(struct gate *gate)
{
	const char *text = gate->held + 1;

	switch (gate->held[gate->num_held - 1]) {
	case 'm':
		fprintf(gate->below, "\033[%s", text);
		break;
	case 'r':
		fputc('\r', gate->below);
		break;
	case 'K':
		fputs("\r\033[K", gate->below);
	}
}

/* ---- Characters ---- */

/* Bytes of a character with this first byte; 1: it begins none. */
static size_t wanted_size(unsigned char first)
{
	if (first < 0xc0 || first >= 0xf8)
		return 1;
	return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
}

/* Write the held bytes, complete or not. */
static void let_go(struct gate *gate)
{
	const unsigned char *at = (const unsigned char *)gate->held, *end = at + gate->num_held;

	while (at < end) {
		uint32_t code;
		size_t size = utf8_next((const char *)at, &code);

		if (utf8_is_printable(code) && (size == 1 || !gate->is_terminal || !is_ascii))
			fwrite(at, 1, size, gate->below);
		else
			fputc('?', gate->below);
		at += size;
	}
	gate->num_held = 0;
	memset(gate->held, 0, sizeof(gate->held));
}

/* Does the byte pass in any context? */
static bool is_plain(const struct gate *gate, char c)
{
	if (gate->is_editor && c)
		return (unsigned char)c < 0x80;
	return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t';
}

/* Take a byte that is not plain, or that follows held bytes. */
static void take(struct gate *gate, char c)
{
	const bool is_mark = gate->num_held && !gate->held[0];

	if (is_mark && gate->num_held < sizeof(gate->held) - 1 && c) {
		if (strchr(parameters, c)) {
			gate->held[gate->num_held++] = c;
			return;
		}
		if (strchr(kinds, c)) {
			gate->held[gate->num_held++] = c;
			pass_mark(gate);
			gate->num_held = 0;
			memset(gate->held, 0, sizeof(gate->held));
			return;
		}
	}
	/* The held bytes will not be completed. */
	if (gate->num_held && (is_mark || ((unsigned char)c & 0xc0) != 0x80))
		let_go(gate);
	if (is_plain(gate, c) && !gate->num_held) {
		fputc(c, gate->below);
		return;
	}
	gate->held[gate->num_held++] = c;
	if (gate->held[0] && gate->num_held >= wanted_size((unsigned char)gate->held[0]))
		let_go(gate);
}

/* ---- Streams ---- */

static ssize_t write_gate(void *cookie, const char *bytes, size_t size)
{
	struct gate *gate = cookie;
	const char *at = bytes, *end = bytes + size;

	clearerr(gate->below);
	while (at < end) {
		const char *plain = at;

		while (!gate->num_held && at < end && is_plain(gate, *at))
			at++;
		if (at > plain)
			fwrite(plain, 1, (size_t)(at - plain), gate->below);
		if (at < end)
			take(gate, *at++);
	}
	/* Flush at once: the stream before the gate has the buffer. */
	return fflush(gate->below) == 0 && !ferror(gate->below) ? (ssize_t)size : 0;
}

static int close_gate(void *cookie)
{
	struct gate *gate = cookie;
	int result;

	let_go(gate);
	if (gate->closes_below)
		result = fclose(gate->below);
	else
		result = fflush(gate->below);
	if (!gate->is_standard)
		free(gate);
	return result;
}

/* Open a gate like `kind`, which is copied to `gate`. */
static FILE *open_gate(struct gate *gate, struct gate kind)
{
	const cookie_io_functions_t functions = {.write = write_gate, .close = close_gate};
	int fd = fileno(kind.below);
	FILE *stream;

	*gate = kind;
	gate->is_terminal = fd >= 0 && isatty(fd);
	stream = fopencookie(gate, "w", functions);
	if (!stream)
		abort();
	if (gate->is_terminal)
		setvbuf(stream, NULL, _IOLBF, BUFSIZ);
	return stream;
}

FILE *gate_open(FILE *below)
{
	return open_gate(xcalloc(1, sizeof(struct gate)), (struct gate){.below = below});
}

FILE *gate_open_file(const char *path, const char *mode, int *fd_ret)
{
	struct gate gate = {.below = fopen(path, mode), .closes_below = true};

	if (!gate.below)
		return NULL;
	if (fd_ret)
		*fd_ret = fileno(gate.below);
	return open_gate(xcalloc(1, sizeof(gate)), gate);
}

FILE *gate_open_editor(void)
{
	FILE *below = standard[0].below ? standard[0].below : stdout;

	return open_gate(xcalloc(1, sizeof(struct gate)),
			 (struct gate){.below = below, .is_editor = true});
}

void gate_use_unicode(bool use_unicode)
{
	is_ascii = !use_unicode;
}

/* The C library allows to assign stdout and stderr. */
void gate_install(void)
{
	is_ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	/* One system call per message, when the gate flushes. */
	setvbuf(stderr, NULL, _IOFBF, BUFSIZ);
	stdout = open_gate(&standard[0], (struct gate){.below = stdout, .is_standard = true});
	stderr = open_gate(&standard[1], (struct gate){.below = stderr, .is_standard = true});
	setvbuf(stderr, NULL, _IONBF, 0);
}
