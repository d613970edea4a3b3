/* SPDX-License-Identifier: BSD-3-Clause
 * A process that sees to it that a rank goes on when gdb has left it. gdb stops a process that it
 * attaches to by SIGSTOP, and takes that back some time later; one that ends in between, since its
 * terminal was closed or pdb was killed, leaves the rank stopped for good. The guard outlives pdb, its
 * terminal and gdb, and then has nothing left to do. */
#ifndef PDB_ATTACH_GDB_GUARD_H
#define PDB_ATTACH_GDB_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct gdb_guard {
	pid_t pid; /* 0: there is none */
};

/* The rank as it was before gdb was started. */
struct gdb_guard_rank {
	pid_t pid;
	uint64_t start_ticks;
	bool was_stopped; /* by a signal: then it stays so */
};

/* As soon as gdb has been started, as a child of this process. Without memory or processes there is
 * no guard, and nothing is said of that. */
void gdb_guard_start(struct gdb_guard *guard, const struct gdb_guard_rank *rank, pid_t gdb);

/* gdb has ended: wait, a fifth of a second at most, until it is sure that the rank goes on. */
void gdb_guard_wait(struct gdb_guard *guard);

#endif
