/* SPDX-License-Identifier: BSD-3-Clause
 * A process that sees to it that a rank is, when gdb has left it, as its user wants it. gdb stops a
 * process that it attaches to by SIGSTOP, and takes that back some time later; one that ends in
 * between, since its terminal was closed or pdb was killed, leaves the rank stopped for good: then
 * it is let go on. One that its user had stopped before, or stops while gdb is on it, stays so. The
 * guard outlives pdb, its terminal and gdb, and then has nothing left to do. */
#ifndef PDB_ATTACH_GDB_GUARD_H
#define PDB_ATTACH_GDB_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif
