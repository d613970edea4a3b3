/* SPDX-License-Identifier: BSD-3-Clause
 * Stack samples of local ranks: seize, interrupt, copy registers and stack, resume, and unwind the
 * copies with libunwind. Threads are detached before the call returns.
 *
 * tracee.c speaks ptrace. futex.c and lock_look.c tell what a thread waits for. unwind_space.c
 * shows a process to libunwind. unwind.c walks stacks and reads variables on the way. python.c
 * replaces frames of the Python interpreter. */
#pragma once

#include "model/base.h"

struct code_probe;

enum sampler_flags {
	SAMPLER_ALL_THREADS = 1 << 0,
	SAMPLER_FRESH = 1 << 1,  /* do not reuse what was learned of the ranks' maps before */
	SAMPLER_QUEUES = 1 << 2, /* of main threads their ranks' message queues, too */
	/* Of main threads that sleep, the system call; of all in a futex call, the lock. */
	SAMPLER_BLOCKED = 1 << 5,
	SAMPLER_CONTENTS = 1 << 3, /* of frames SAMPLE_CONTENTS, where it can be told */
	/* Of the threads of its process that a thread looked at waits for, too, and whom they wait
	 * for, some steps far. */
	SAMPLER_AWAITED = 1 << 4,
};

struct sampler_target {
	int rank;
	pid_t pid;            /* local */
	uint64_t start_ticks; /* of struct procfs_stat; 0: whatever process has the pid */
};

/* What sampling has cost so far, for `info overhead`. */
struct sampler_cost {
	uint64_t num_samples;
	uint64_t stopped_ns_total, stopped_ns_max, stopped_ns_median;
	uint64_t num_failed;
};

/* Of two nodes together, into *into; its median is the mean of both, weighted by samples. */
void sampler_add_cost(struct sampler_cost *into, const struct sampler_cost *other);

/* The tables are borrowed; frames are interned there. */
struct sampler *sampler_create(struct modules *modules, struct callpaths *callpaths);
void sampler_destroy(struct sampler *sampler); /* NULL is fine */

/* One sample of each target, one right after the other, so that each stands still only for its own
 * copy; those that wait for a processor come last, and nobody waits for them. A rank that vanished,
 * refuses or cannot be unwound becomes a SAMPLE_FAILED with a note; a process that was stopped by a
 * signal stays stopped. Returns 0 even so; -1 only if nothing could be tried: ERROR_PERMISSION when
 * every single one was refused, with Yama, tracer or owner named and what to do about it. */
int sampler_take(struct sampler *sampler, const struct sampler_target *targets, size_t num_targets,
		 unsigned flags, struct samples *samples, struct pdb_error *err);

/* From now on read these in the frames that they are for, and put the values into samples, where
 * the index of a probe is its number. The probes are copied; none: end that. */
void sampler_set_probes(struct sampler *sampler, const struct code_probe *probes, size_t num);
/* Also read the variables of Python frames, of main threads. */
void sampler_set_variables(struct sampler *sampler, bool are_wanted);

void sampler_get_cost(const struct sampler *sampler, struct sampler_cost *ret);
