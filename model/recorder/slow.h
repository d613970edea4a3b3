/* SPDX-License-Identifier: BSD-3-Clause
 * Slow sections: one thread at a time, cancellation off. An MPI call within one on the same thread
 * (a signal handler that calls MPI_Abort) is passed through.
 *
 * Signals are blocked once the thread has the lock. A thread that waited with signals blocked could
 * not be stopped by a signal, and some runtimes wait until all threads are. Brief sections do not
 * block signals: some programs make thousands of windows a second, and the system call would take
 * longer than the rest. They are only for the inside of an MPI call, which no handler jumps out of
 * without harm. */
#pragma once

#include <signal.h>
#include <stdbool.h>

struct slow {
	bool is_brief;
	sigset_t signals; /* blocked before; not of a brief one */
	int saved_errno;
};

/* False: the thread is in one already, and nothing was done. errno is kept from here to the end. */
bool slow_begin(struct slow *s);
bool slow_begin_brief(struct slow *s); /* signals are left as they are */
void slow_end(const struct slow *s);

bool slow_is_inside(void);
void slow_left(void);  /* if a handler jumped out of one, that is over */
void slow_reset(void); /* in the child of a fork(): no thread is in one */
