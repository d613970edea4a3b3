/* SPDX-License-Identifier: BSD-3-Clause
 * A process that leaves a rank as its user wants it when gdb has ended. gdb stops a process that it
 * attaches to by SIGSTOP and lets it go on later. If gdb ends in between (its terminal was closed,
 * pdb was killed), the rank would stay stopped for good; the guard lets it go on. A rank that its
 * user had stopped before, or stops while gdb is on it, stays stopped. The guard outlives pdb, its
 * terminal and gdb, then ends. */
#pragma once

#include "model/base.h"

/* The rank as it was before gdb was started. */
struct gdb_guard_rank {
	pid_t pid;
	uint64_t start_ticks;
	bool was_stopped; /* by a signal: then it is in the end */
};

/* As soon as gdb has been started, as a child of this process. Returns the guard; below 0 without
 * memory or processes for one, and nothing is said of that. */
pid_t gdb_guard_start(const struct gdb_guard_rank *rank, pid_t gdb);

/* gdb has ended: wait, 0.2 s at most, until the rank is surely as it was. Takes no guard, too. */
void gdb_guard_wait(pid_t guard);
