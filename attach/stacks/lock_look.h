/* SPDX-License-Identifier: BSD-3-Clause
 * What a thread waits for in a futex call: by what was copied of it (futex.h), and by what else the
 * process' memory and /proc tell. */
#pragma once

#include "model/base.h"
#include "model/job/sample.h"

struct lock_names;
struct tracee;

struct lock_look {
	/* In. All are borrowed. */
	pid_t pid;    /* the process */
	pid_t reader; /* a thread of it that lives */
	const struct tracee *tracee;
	uint32_t path; /* its stack, in these: */
	const struct modules *modules;
	const struct callpaths *callpaths;
	int64_t *left_ns; /* that words of locks may still take; it is counted down */
	/* Out. */
	struct sample_wait wait;
	bool is_outside_mpi; /* its stack is known, and no MPI library's function is on it */
	/* Any thread of the process may hold it, and it does not say which. So may it be if a
	 * thread runs in LLVM's OpenMP library, which spins for its locks. */
	bool is_anybody;
	/* As struct blocked has it, the caller destroys it. NULL: it waits for no lock, no time was
	 * left, or it waits inside MPI, as MPI libraries have locks of their own that nobody asks
	 * about. */
	struct blocked *blocked;
};

/* names NULL: only the wait. */
void lock_look_take(struct lock_look *look, struct lock_names *names);
