/* SPDX-License-Identifier: BSD-3-Clause
 * Functions that describe the system calls in blocked.c's table. Each fills in what it knows. */
#pragma once

#include "model/base.h"

struct blocked;
struct system_call;

struct blocked_look {
	pid_t pid, tid;
	const struct system_call *call;
	unsigned argument; /* which one is described: its index */
	int *searches;     /* that may still be made through all processes; NULL: any */
	struct blocked *found;
};

/* May a call search all processes once more? Counts down. */
static inline bool blocked_may_search(struct blocked_look *look)
{
	return !look->searches || (*look->searches)-- > 0;
}

/* In blocked_fd.c, of the descriptor in that argument: */
void blocked_on_fd(struct blocked_look *look);    /* its object alone */
void blocked_on_read(struct blocked_look *look);  /* and who could write */
void blocked_on_write(struct blocked_look *look); /* and who could read; a full file system */
void blocked_on_flock(struct blocked_look *look);
void blocked_on_fcntl(struct blocked_look *look);

/* In blocked_path.c, of the path in that argument; _at: the directory is in the one before. */
void blocked_on_path(struct blocked_look *look);
void blocked_on_path_itself(struct blocked_look *look); /* a link at its end is not followed */
void blocked_on_path_at(struct blocked_look *look);
void blocked_on_path_itself_at(struct blocked_look *look);
void blocked_on_fstatat(struct blocked_look *look);
void blocked_on_statx(struct blocked_look *look);
void blocked_on_open(struct blocked_look *look);
void blocked_on_openat(struct blocked_look *look);
void blocked_on_openat2(struct blocked_look *look);

/* In blocked_time.c, of calls that wait for a time or for one of several descriptors: */
void blocked_on_nanosleep(struct blocked_look *look);
void blocked_on_clock_nanosleep(struct blocked_look *look);
void blocked_on_poll(struct blocked_look *look);
void blocked_on_ppoll(struct blocked_look *look);
void blocked_on_select(struct blocked_look *look);
void blocked_on_pselect(struct blocked_look *look);
void blocked_on_epoll(struct blocked_look *look);
void blocked_on_epoll2(struct blocked_look *look);

/* In blocked_child.c: */
void blocked_on_wait4(struct blocked_look *look);
void blocked_on_waitid(struct blocked_look *look);
