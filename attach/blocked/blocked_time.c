/* SPDX-License-Identifier: BSD-3-Clause */
#include <poll.h>
#include <sys/time.h>
#include <time.h>

#include "attach/blocked/blocked_private.h"
#include "attach/blocked/fd_object.h"
#include "attach/process/memory.h"
#include "attach/process/procfs.h"
#include "attach/blocked/system_call.h"
#include "model/job/blocked.h"

#define MAX_FDS 64
#define MAX_SELECTED 1024
#define MAX_NAMED 3

/* "30 s", "2.5 s", "10 ms". */
static void print_time(double seconds, char *buffer, size_t size)
{
	if (seconds <= 0)
		snprintf(buffer, size, "0 s");
	else if (seconds < 1e-3)
		snprintf(buffer, size, "%.3g us", seconds * 1e6);
	else if (seconds < 1)
		snprintf(buffer, size, "%.3g ms", seconds * 1e3);
	else if (seconds < 100)
		snprintf(buffer, size, "%.3g s", seconds);
	else
		snprintf(buffer, size, "%.0f s", seconds);
}

static void limit_to(struct blocked_look *look, double seconds)
{
	char text[64];

	print_time(seconds, text, sizeof(text));
	/* Without descriptors it is a sleep. */
	look->found->reason = xasprintf(look->found->object ? "for %s at most" : "for %s", text);
}

/* struct timeval and struct timespec: both are two words. `unit` of the second one. */
static bool read_time(struct blocked_look *look, uint64_t address, double unit, double *ret)
{
	int64_t words[2];

	if (!address || memory_read_all(look->pid, address, words, sizeof(words)) || words[0] < 0)
		return false;
	*ret = (double)words[0] + (double)words[1] * unit;
	return true;
}

static void limit_by(struct blocked_look *look, unsigned argument, double unit)
{
	double seconds;

	if (read_time(look, look->call->args[argument], unit, &seconds))
		limit_to(look, seconds);
}

static void limit_by_ms(struct blocked_look *look, unsigned argument)
{
	int ms = (int)look->call->args[argument];

	if (ms >= 0)
		limit_to(look, ms * 1e-3);
}

void blocked_on_nanosleep(struct blocked_look *look)
{
	limit_by(look, look->argument, 1e-9);
}

void blocked_on_clock_nanosleep(struct blocked_look *look)
{
	if (!(look->call->args[1] & TIMER_ABSTIME))
		limit_by(look, look->argument, 1e-9);
}

/* ---- Descriptors ---- */

static char *words_of(pid_t pid, int fd)
{
	struct fd_object object;
	char *words;

	if (!fd_object_read(pid, fd, &object))
		return xasprintf("file descriptor %d", fd);
	words = object.words;
	object.words = NULL;
	fd_object_clear(&object);
	return words;
}

/* "a pipe, the TCP connection ... and 4 more" of `num`, of which the first are given. */
static char *words_of_all(pid_t pid, const int *fds, size_t num)
{
	char *named[MAX_NAMED], *all;
	size_t num_named = num < MAX_NAMED ? num : MAX_NAMED;

	if (!num)
		return NULL;
	for (size_t i = 0; i < MAX_NAMED; i++)
		named[i] = i < num_named ? words_of(pid, fds[i]) : NULL;
	if (num == 1)
		all = xstrdup(named[0]);
	else if (num == 2)
		all = xasprintf("%s and %s", named[0], named[1]);
	else if (num == 3)
		all = xasprintf("%s, %s and %s", named[0], named[1], named[2]);
	else
		all = xasprintf("%s, %s, %s and %zu more", named[0], named[1], named[2],
				num - MAX_NAMED);
	for (size_t i = 0; i < MAX_NAMED; i++)
		free(named[i]);
	return all;
}

static void describe_polled(struct blocked_look *look)
{
	uint64_t num_polled = look->call->args[1];
	size_t num_read = num_polled < MAX_FDS ? (size_t)num_polled : MAX_FDS, num = 0;
	struct pollfd polled[MAX_FDS];
	int fds[MAX_FDS];

	if (!num_read ||
	    memory_read_all(look->pid, look->call->args[0], polled, num_read * sizeof(*polled)))
		return;
	for (size_t i = 0; i < num_read; i++)
		if (polled[i].fd >= 0)
			fds[num++] = polled[i].fd;
	/* If the first 64 have less than three names, the others stay out. */
	if (num >= MAX_NAMED)
		num += (size_t)(num_polled - num_read);
	look->found->object = words_of_all(look->pid, fds, num);
}

void blocked_on_poll(struct blocked_look *look)
{
	describe_polled(look);
	limit_by_ms(look, 2);
}

void blocked_on_ppoll(struct blocked_look *look)
{
	describe_polled(look);
	limit_by(look, 2, 1e-9);
}

static void add_selected(struct blocked_look *look, unsigned argument, size_t size,
			 unsigned char *all)
{
	unsigned char set[MAX_SELECTED / 8];
	uint64_t address = look->call->args[argument];

	if (!address || memory_read_all(look->pid, address, set, size))
		return;
	for (size_t i = 0; i < size; i++)
		all[i] |= set[i];
}

static void describe_selected(struct blocked_look *look)
{
	int last = (int)look->call->args[0], fds[MAX_NAMED];
	unsigned char all[MAX_SELECTED / 8] = {0};
	size_t num = 0;

	if (last > MAX_SELECTED)
		last = MAX_SELECTED;
	if (last <= 0)
		return;
	for (unsigned i = 1; i <= 3; i++)
		add_selected(look, i, ((size_t)last + 7) / 8, all);
	for (int fd = 0; fd < last; fd++) {
		if (!(all[fd / 8] >> fd % 8 & 1))
			continue;
		if (num < MAX_NAMED)
			fds[num] = fd;
		num++;
	}
	look->found->object = words_of_all(look->pid, fds, num);
}

void blocked_on_select(struct blocked_look *look)
{
	describe_selected(look);
	limit_by(look, 4, 1e-6);
}

void blocked_on_pselect(struct blocked_look *look)
{
	describe_selected(look);
	limit_by(look, 4, 1e-9);
}

static void describe_watched(struct blocked_look *look)
{
	int fds[MAX_NAMED];
	char name[32], *text;

	snprintf(name, sizeof(name), "fdinfo/%d", (int)look->call->args[0]);
	text = procfs_read(look->pid, name, NULL);
	if (text)
		look->found->object =
			words_of_all(look->pid, fds, fd_info_watched(text, fds, MAX_NAMED));
	free(text);
}

void blocked_on_epoll(struct blocked_look *look)
{
	describe_watched(look);
	limit_by_ms(look, 3);
}

void blocked_on_epoll2(struct blocked_look *look)
{
	describe_watched(look);
	limit_by(look, 3, 1e-9);
}
