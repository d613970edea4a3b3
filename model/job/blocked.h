/* SPDX-License-Identifier: BSD-3-Clause
 * The system call that a thread sleeps in, and its object: what a rank outside MPI waits for, as the
 * kernel shows it. Words are made where the facts are, in attach/blocked/blocked. */
#ifndef PDB_MODEL_BLOCKED_H
#define PDB_MODEL_BLOCKED_H

#include <stdbool.h>

struct blocked {
	char *call; /* "read": the system call's name; "system call 999" if it has none here */
	/* "/scratch/restart.0007", "a pipe", "process 812 (sh)"; of a lock (futex) the variable that it
	 * is, "'table'", or of glibc's own what it is of, "stdout"; NULL: it has none. */
	char *object;
	/* Of a file its file system: "lustre, mds1@tcp:/scratch, mounted at /scratch"; NULL: none. */
	char *place;
	/* Who could end it, or why nobody will: "nobody has it open for writing", "process 812 (tar)
	 * holds the lock"; "for 30 s" of a sleep; of a lock, if it is what the thread's stack shows
	 * (struct sample_wait): "2 readers hold it"; NULL: not known. */
	char *reason;
	char *kernel; /* in state D, the kernel's function: "rpc_wait_bit_killable"; NULL */
};

/* Of copies of the texts, all but `call` may be NULL. The caller destroys it. */
struct blocked *blocked_create(const char *call, const char *object, const char *place,
			       const char *reason, const char *kernel);
void blocked_destroy(struct blocked *blocked); /* NULL is fine */
/* Is it a wait in futex(), for a lock or the like? */
bool blocked_is_lock(const struct blocked *blocked);

#endif
