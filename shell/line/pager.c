/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "render/text/gate.h"
#include "shell/interrupt.h"
#include "shell/line/pager.h"

static const char question[] = "-- more: Enter, q ends, c shows all --";

size_t pager_rows(const char *line, const char *end, size_t columns, const char **next_ret)
{
	size_t width = 0;
	const char *p = line;

	while (p < end && *p != '\n') {
		if (!*p) {
			p = gate_skip(p, end);
			continue;
		}
		if (*p == '\t')
			width += 8 - width % 8;
		else if (((unsigned char)*p & 0xc0) != 0x80)
			width++;
		p++;
	}
	*next_ret = p + (p < end);
	return width > columns && columns ? (width + columns - 1) / columns : 1;
}

static bool show_by(const char *pager, const char *text, size_t size)
{
	FILE *pipe, *out;

	/* Options for less if the user has set none: pass colours. */
	setenv("LESS", "FRX", 0);
	fflush(stdout);
	pipe = popen(pager, "we");
	if (!pipe)
		return false;
	out = gate_open(pipe);
	fwrite(text, 1, size, out);
	fclose(out);
	return pclose(pipe) != 127 << 8; /* else: no such program */
}

/* Read a key from the terminal; 'q' at its end or at a signal. */
static char read_key(void)
{
	struct termios before, raw;
	struct pollfd fds[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = interrupt_fd(), .events = POLLIN},
	};
	char key = 'q';

	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return 'c';
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	while (!interrupt_pending() && poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	if (!interrupt_pending() && (!fds[0].revents || read(STDIN_FILENO, &key, 1) != 1))
		key = 'q';
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	return interrupt_pending() ? 'q' : key;
}

/* The reader's choice: 'q', 'c', or the next page. */
static char ask(void)
{
	char key;

	fputs(question, stdout);
	fflush(stdout);
	do
		key = read_key();
	while (!strchr("qQcC \n\r", key));
	gate_return(stdout);
	printf("%*s", (int)strlen(question), "");
	gate_return(stdout);
	return key == 'Q' ? 'q' : key == 'C' ? 'c' : key;
}

static void show_pages(const char *text, const char *end, const struct winsize *window)
{
	size_t room = window->ws_row - 1, used = 0;

	while (text < end) {
		const char *next;
		size_t rows = pager_rows(text, end, window->ws_col, &next);

		if (used > 0 && used + rows > room) {
			char key = ask();

			if (key == 'q')
				return;
			if (key == 'c') {
				fwrite(text, 1, (size_t)(end - text), stdout);
				return;
			}
			used = 0;
		}
		fwrite(text, 1, next - text, stdout);
		used += rows;
		text = next;
	}
}

static size_t count_rows(const char *text, const char *end, size_t columns)
{
	size_t rows = 0;

	while (text < end)
		rows += pager_rows(text, end, columns, &text);
	return rows;
}

void pager_show(const char *text, size_t size)
{
	const char *pager = getenv("PAGER");
	struct winsize window;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) < 0 || window.ws_row < 2 ||
	    count_rows(text, text + size, window.ws_col) < window.ws_row) {
		fwrite(text, 1, size, stdout);
		return;
	}
	if (!pager || !*pager || !show_by(pager, text, size))
		show_pages(text, text + size, &window);
}
