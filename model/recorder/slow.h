/* SPDX-License-Identifier: BSD-3-Clause
 * Slow sections: one thread at a time, cancellation off. A call of MPI in the middle of one on
 * the same thread (a signal's handler that calls MPI_Abort) is told by slow_begin(), and is
 * passed through.
 *
 * Signals are blocked as soon as the thread may go on: a thread that waited with signals blocked
 * could not be stopped by a signal, and some runtimes wait until all are. In brief sections they
 * are not blocked: some programs make thousands of windows a second, and asking the kernel takes
 * longer than all else there. That is for sections inside a call of MPI only, which a handler
 * cannot jump out of without harm to MPI. */
#ifndef PDB_RECORDER_SLOW_H
#define PDB_RECORDER_SLOW_H

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

/* Is the thread in one? */
bool slow_is_inside(void);

/* It is in none any more: if a handler jumped out of one, that is over. */
void slow_left(void);

/* In the child of a fork(): no thread is in one. */
void slow_reset(void);

#endif
