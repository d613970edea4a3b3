/* SPDX-License-Identifier: BSD-3-Clause
 * What a rank outside MPI waits for, as the kernel shows it: the system call that a thread sleeps
 * in, and its object; limits that its process has reached. Words are made where the facts are, in
 * attach/blocked. */
#pragma once

#include "model/base.h"

#define BLOCKED_PAGE_FAULT "page fault"
#define BLOCKED_NO_CALL "no system call"

struct blocked {
	/* "read": the system call's name; "system call 999" if it has none here; of a thread in
	 * state D that is in none BLOCKED_PAGE_FAULT or BLOCKED_NO_CALL. NULL: it is in none, or
	 * that is not known; all but the limit are NULL then. */
	char *call;
	/* "/scratch/restart.0007", "a pipe", "process 812 (sh)"; of a lock (futex) the variable
	 * that it is, "'table'", or of glibc's own what it is of, "stdout"; NULL: it has none. */
	char *object;
	/* Of a file its file system: "lustre, mds1@tcp:/scratch, mounted at /scratch"; NULL. */
	char *place;
	/* Who could end it, or why nobody will: "nobody has it open for writing", "process 812
	 * (tar) holds the lock"; "for 30 s" of a sleep; of a lock, if it is what the thread's stack
	 * shows (struct sample_wait): "2 readers hold it"; NULL: not known. */
	char *reason;
	char *kernel; /* in state D, the kernel's function: "rpc_wait_bit_killable"; NULL */
	/* In state D, where it may be read, that function and who has called it, at most six:
	 * "rpc_wait_bit_killable < __rpc_execute < nfs4_proc_getattr"; NULL. */
	char *stack;
	/* Of the mount of `place`, and in state D of others on the host: "the mount does not answer
	 * statfs() within 200 ms; 2 other processes there wait in the same function"; NULL. */
	char *around;
	char *point; /* where that of `place` is mounted if it has a server; not sent; NULL */
	char *limit; /* "all 64 file descriptors that it may have are open"; NULL: none */
};

/* Of copies of the texts, all but `call` may be NULL; without a limit. The caller destroys it. */
struct blocked *blocked_create(const char *call, const char *object, const char *place,
			       const char *reason, const char *kernel);
void blocked_destroy(struct blocked *blocked); /* NULL is fine */
/* Is it a wait in futex(), for a lock or the like? Not if it is in no call. */
bool blocked_is_lock(const struct blocked *blocked);
