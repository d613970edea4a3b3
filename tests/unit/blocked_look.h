/* SPDX-License-Identifier: BSD-3-Clause
 * Looking at children that sleep, and a directory for their files. */
#ifndef PDB_TESTS_UNIT_BLOCKED_LOOK_H
#define PDB_TESTS_UNIT_BLOCKED_LOOK_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "attach/blocked/blocked.h"
#include "attach/blocked/open_by.h"
#include "model/job/blocked.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

/* ---- Where the tests have their files ---- */

static char directory[] = "/tmp/test_blocked.XXXXXX";

static inline const char *in_directory(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static inline int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) && !mkfifo(in_directory("fifo"), 0600) &&
			       !symlink("fifo", in_directory("link")) &&
			       close(open(in_directory("file"), O_CREAT | O_RDWR, 0600)) == 0
		       ? 0
		       : -1;
}

static inline int remove_directory(void **state)
{
	static const char *const names[] = {"fifo", "link", "file", "socket", "to_mount"};

	(void)state;
	for (size_t i = 0; i < NUM_OF(names); i++)
		unlink(in_directory(names[i]));
	rmdir(in_directory("mount"));
	return rmdir(directory);
}

/* ---- Looking ---- */

/* Once the thread sleeps in this call. */
static inline struct blocked *look(pid_t pid, pid_t tid, const char *call)
{
	struct blocked *blocked;

	for (int i = 0; i < 20000; i++) {
		blocked = blocked_read(pid, tid, NULL);
		if (blocked && !strcmp(blocked->call, call))
			return blocked;
		blocked_destroy(blocked);
		usleep(100);
	}
	fail_msg("process %d never slept in %s", (int)pid, call);
	return NULL;
}

static inline const char *or_none(const char *text)
{
	return text ? text : "-";
}

/* Until it says so: a busy machine cuts the search for other processes short. */
static inline void assert_blocked(pid_t pid, const char *call, const char *object,
				  const char *reason)
{
	struct blocked *blocked = look(pid, 0, call);

	for (int i = 0; i < 200 && strcmp(or_none(blocked->reason), reason); i++) {
		blocked_destroy(blocked);
		blocked = look(pid, 0, call);
	}
	assert_string_equal(or_none(blocked->object), object);
	assert_string_equal(or_none(blocked->reason), reason);
	blocked_destroy(blocked);
}

/* "nobody" and "only" are sure only where all processes of the machine can be seen. */
static inline bool sees_all(void)
{
	struct open_by by = {.is_whole = false};

	for (int i = 0; i < 20 && !by.is_whole; i++)
		open_by_find(getpid(), "none", OPEN_BY_ANY, &by);
	return by.is_whole;
}

static inline const char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline const char *text_of(const char *format, ...)
{
	static char texts[4][512];
	static int at;
	char *text = texts[at++ % 4];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(*texts), format, arguments);
	va_end(arguments);
	return text;
}

/* ---- What children do ---- */

static inline void body_hold(const void *argument, int ready)
{
	(void)argument;
	prctl(PR_SET_NAME, "holder");
	wait_here(ready);
}

static inline bool shows_wchan(pid_t pid)
{
	char *wchan = procfs_read(pid, "wchan", NULL);
	bool is_shown = wchan && strcmp(wchan, "0") != 0;

	free(wchan);
	return is_shown;
}

static inline int listen_tcp(int family, int *port_ret)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
	socklen_t length = family == AF_INET ? sizeof(v4) : sizeof(v6);
	struct sockaddr *address = family == AF_INET ? (void *)&v4 : (void *)&v6;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, address, length) || listen(fd, 5))
		return -1;
	assert_int_equal(getsockname(fd, address, &length), 0);
	*port_ret = ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port);
	return fd;
}

#endif
