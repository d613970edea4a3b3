/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "model/error.h"
#include "model/xalloc.h"
#include "shell/interrupt.h"
#include "shell/script/macro.h"
#include "shell/script/script.h"
#include "shell/session.h"

#define MAX_DEPTH 20

static int run(struct session *session, struct line_source *source, struct pdb_error *err)
{
	struct line_source *outer = session->source;
	char *line;
	int result = 0;

	if (session->depth >= MAX_DEPTH)
		return error_set(err, ERROR_USAGE, "commands are nested more than %d deep",
				 MAX_DEPTH);
	session->depth++;
	session->source = source;
	while (!result && !session->wants_quit && (line = source->next(source, ""))) {
		int number = source->line;

		result = session->execute(session, line, err);
		free(line);
		if (!result && interrupt_pending())
			result = error_set(err, ERROR_INTERRUPTED, "interrupted");
		if (result)
			error_prefix(err, "%s:%d", source->name, number);
	}
	session->source = outer;
	session->depth--;
	return result;
}

enum { MAX_LINE = 64 << 10 }; /* a file with longer lines is no command file */

struct file_source {
	struct line_source base;
	int fd;
	char bytes[4096];
	size_t at, num;       /* position in `bytes`, and their number */
	struct pdb_error err; /* error of reading; ERROR_NONE */
};

/* Wait for bytes, their end, or a signal, and return which. -1: failed. */
static int wait_for_more(const struct file_source *file)
{
	struct pollfd fds[] = {
		{.fd = file->fd, .events = POLLIN},
		{.fd = interrupt_fd(), .events = POLLIN},
	};

	if (poll(fds, 2, -1) < 0 && errno != EINTR)
		return -1;
	if (fds[1].revents)
		interrupt_drain();
	return fds[0].revents != 0;
}

/* Read more bytes. False: there are none. A fifo may never get a writer, and a device may never
 * end, so a signal always ends this. */
static bool read_more(struct file_source *file)
{
	/* A fifo without a first writer looks like one at its end. */
	bool is_ready = file->num > 0;

	while (interrupt_check(&file->err) == 0) {
		int ready = is_ready ? 1 : wait_for_more(file);
		ssize_t got;

		if (ready < 0)
			break;
		if (ready == 0)
			continue;
		got = read(file->fd, file->bytes, sizeof(file->bytes));
		if (got >= 0) {
			file->at = 0;
			file->num = (size_t)got;
			return got > 0;
		}
		if (errno != EINTR && errno != EAGAIN)
			break;
		is_ready = false;
	}
	if (file->err.code == ERROR_NONE)
		error_errno(&file->err, "cannot read %s", file->base.name);
	return false;
}

static char *next_of_file(struct line_source *source, const char *prompt)
{
	struct file_source *file = (struct file_source *)source;
	char *line = NULL;
	size_t length = 0, capacity = 0;
	bool is_end = false;

	(void)prompt;
	while (!is_end && (file->at < file->num || read_more(file))) {
		char next = file->bytes[file->at++];

		line = xgrow(line, length, &capacity, 1);
		is_end = next == '\n';
		line[length++] = is_end ? '\0' : next;
		if (length > MAX_LINE) {
			error_set(&file->err, ERROR_FORMAT,
				  "%s:%d: the line does not end: this is no file of commands",
				  source->name, source->line + 1);
			break;
		}
	}
	if (!line || file->err.code != ERROR_NONE) {
		free(line);
		return NULL;
	}
	/* The last one may have no newline. */
	line = xreallocarray(line, length + 1, 1);
	length -= is_end;
	while (length > 0 && line[length - 1] == '\r')
		length--;
	line[length] = '\0';
	source->line++;
	return line;
}

int script_run_open(struct session *session, int fd, const char *name, struct pdb_error *err)
{
	struct file_source *file = xcalloc(1, sizeof(*file));
	int result;

	file->base = (struct line_source){.next = next_of_file, .name = name};
	file->fd = fd;
	result = run(session, &file->base, err);
	if (!result && file->err.code != ERROR_NONE) {
		*err = file->err;
		result = -1;
	}
	free(file);
	return result;
}

int script_run_file(struct session *session, const char *path, struct pdb_error *err)
{
	/* Do not wait here for the writer of a fifo. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), result;

	if (fd < 0)
		return error_errno(err, "cannot open %s", path);
	result = script_run_open(session, fd, path, err);
	close(fd);
	return result;
}

struct macro_source {
	struct line_source base;
	char **lines;
	size_t num_lines;
};

static char *next_of_macro(struct line_source *source, const char *prompt)
{
	struct macro_source *macro = (struct macro_source *)source;

	(void)prompt;
	if ((size_t)source->line >= macro->num_lines)
		return NULL;
	return xstrdup(macro->lines[source->line++]);
}

int script_run_macro(struct session *session, const struct macro *macro, const struct args *args,
		     struct pdb_error *err)
{
	struct macro_source source = {
		.base = {.next = next_of_macro, .name = macro->name},
		.num_lines = macro->num_lines,
	};
	char *name = xstrdup(macro->name);
	int result;

	/* A copy, because the lines may redefine the macro. */
	source.base.name = name;
	source.lines = xcalloc(macro->num_lines, sizeof(char *));
	for (size_t i = 0; i < macro->num_lines; i++)
		source.lines[i] = macro_expand(macro->lines[i], args);
	result = run(session, &source.base, err);
	for (size_t i = 0; i < source.num_lines; i++)
		free(source.lines[i]);
	free(source.lines);
	free(name);
	return result;
}
