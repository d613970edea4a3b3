/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/blocked/file_locks.h"

#define MAX_LINES 100000

struct line {
	bool is_blocked; /* waits for the one above it that is not */
	bool is_flock;
	int pid;
	uint32_t major, minor;
	uint64_t inode;
};

/* "1: FLOCK  ADVISORY  WRITE 812 fe:00:8466 0 EOF", "1: -> FLOCK ..." of who waits for it. */
static bool parse_line(const char *text, struct line *ret)
{
	unsigned long long inode;
	char kind[16];
	const char *arrow;
	int used = 0;

	if (sscanf(text, "%*u: %n", &used) < 0 || !used)
		return false;
	text += used;
	arrow = strncmp(text, "->", 2) ? NULL : text;
	if (arrow)
		text += 2;
	if (sscanf(text, " %15s %*s %*s %d %x:%x:%llu", kind, &ret->pid, &ret->major, &ret->minor,
		   &inode) != 5)
		return false;
	ret->is_blocked = arrow != NULL;
	ret->is_flock = !strcmp(kind, "FLOCK");
	ret->inode = inode;
	/* Leases and mounts' locks are others. */
	return ret->is_flock || !strcmp(kind, "POSIX") || !strcmp(kind, "OFDLCK");
}

static bool is_of(const struct line *line, const struct file_lock *wanted)
{
	return line->major == wanted->major && line->minor == wanted->minor &&
	       line->inode == wanted->inode && line->is_flock == wanted->is_flock;
}

pid_t file_locks_holder(FILE *locks, const struct file_lock *wanted)
{
	int holder = 0, sole = 0, num_holders = 0;
	struct line line;
	char text[256];

	for (int i = 0; i < MAX_LINES && fgets(text, sizeof(text), locks); i++) {
		if (!parse_line(text, &line))
			continue;
		if (!line.is_blocked)
			holder = is_of(&line, wanted) ? line.pid : 0;
		if (!is_of(&line, wanted))
			continue;
		if (line.is_blocked && line.pid == wanted->waiter)
			return holder > 0 ? holder : 0;
		if (!line.is_blocked) {
			num_holders++;
			sole = line.pid;
		}
	}
	/* The server of some file systems knows who waits, not this list. A lock of flock() is of
	 * the whole file, so that its one holder is the reason. */
	return wanted->is_flock && num_holders == 1 && sole > 0 && sole != wanted->waiter ? sole
											  : 0;
}
