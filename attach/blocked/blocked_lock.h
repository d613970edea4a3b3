/* SPDX-License-Identifier: BSD-3-Clause
 * Names the lock that a thread waits for in futex(2): by the variable that the word is in, or by
 * what the lock protects. */
#pragma once

#include "model/base.h"

struct maps;

/* Variables that were looked up: ranks that run the same program wait for the same ones. */
struct lock_names;

struct lock_names *lock_names_create(void);
void lock_names_destroy(struct lock_names *names); /* NULL is fine */

/* The global or static variable that the address is in: "'table'", "'pool' in libwork.so". If the
 * variable is larger than a lock, the text also has the offset: "'cells'+16". An OpenMP lock is
 * "critical section 'update'". NULL: the address is in no variable, as on the heap or on a stack,
 * or its file has no symbol for it. The caller frees. `pid`: the process, or a thread that lives.
 * For a variable not seen before, pdb reads the symbols of its file, at most 250,000 of them: some
 * two milliseconds. */
char *blocked_lock_name(struct lock_names *names, pid_t pid, const struct maps *maps,
			uint64_t address);

/* The stdio stream whose lock is at the address: "stdout", "descriptor 5 (/tmp/x)". NULL: no open
 * stream of glibc has its lock there. The caller frees. */
char *blocked_lock_stream(struct lock_names *names, pid_t pid, const struct maps *maps,
			  uint64_t address);

/* For a barrier: "3 of 4 threads are there". The caller frees. */
char *blocked_lock_arrived(uint32_t num, uint32_t all);

/* The same for a barrier of libgomp. NULL: the address is in none. The caller frees. */
char *blocked_lock_team(pid_t pid, uint64_t address);
