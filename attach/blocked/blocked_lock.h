/* SPDX-License-Identifier: BSD-3-Clause
 * What lock the word is of that a thread waits for in futex(2): by its variable, or by what it
 * protects. */
#pragma once

#include "model/base.h"

struct maps;

/* Variables that were looked up: ranks that run the same program wait for the same ones. */
struct lock_names;

struct lock_names *lock_names_create(void);
void lock_names_destroy(struct lock_names *names); /* NULL is fine */

/* The global or static variable that the address is in: "'table'", "'pool' in libwork.so"; if it is
 * larger than a lock, where in it, "'cells'+16"; "critical section 'update'" of OpenMP. NULL: it is in none, as on the heap or on a stack, or its file has no symbol for it.
 * The caller frees. `pid`: the process, or a thread that lives. Of a variable not seen before, the
 * symbols of its file are read, of no more than 250,000: some two milliseconds. */
char *blocked_lock_name(struct lock_names *names, pid_t pid, const struct maps *maps,
			uint64_t address);

/* The stdio stream whose lock is at the address: "stdout", "descriptor 5 (/tmp/x)"; NULL: it is
 * that of no open stream of glibc. The caller frees. */
char *blocked_lock_stream(struct lock_names *names, pid_t pid, const struct maps *maps,
			  uint64_t address);

/* "3 of 4 threads are there", of a barrier. The caller frees. */
char *blocked_lock_arrived(uint32_t num, uint32_t all);

/* The same of a barrier of libgomp; NULL: the address is in none. The caller frees. */
char *blocked_lock_team(pid_t pid, uint64_t address);
