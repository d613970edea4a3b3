/* SPDX-License-Identifier: BSD-3-Clause
 * Whom a thread waits for in the kernel. Locks, joins and conditions all end in futex(2), whose
 * argument is the address of a word. What glibc keeps in and beside such words tells who will wake
 * the thread (nptl/sysdeps/pthread, bits/struct_mutex.h, bits/struct_rwlock.h). */
#pragma once

#include <sys/user.h>

#include "model/base.h"

struct sample_wait;

/* What is read from the futex on: as far as a mutex' kind and a rwlock's `shared` are off. */
enum { FUTEX_WORDS = 6 };

struct futex_call {
	uint64_t address;
	uint32_t operation; /* FUTEX_WAIT, ... with its flags */
	uint32_t value;     /* that the word had when the call was made */
	bool is_timed;
	bool is_restarted;  /* the kernel does not tell any more that it is this system call */
	uint32_t before[2]; /* the words before the one that it is about; 0: could not be read */
};

/* The call that a thread was stopped in, and to which it goes back. False: it is in none, or the
 * registers of this machine do not tell. */
bool futex_call_of(const struct user_regs_struct *regs, struct futex_call *ret);

/* The wait of a call, of this kind (enum sample_wait_kind), if it is not known who will end it. */
struct sample_wait futex_of_nobody(const struct futex_call *call, unsigned kind);

/* By what the words were while the thread stood still; num: how many could be read. tid and `own`,
 * the thread's, are by the numbers of its pid namespace. That there is such a thread is not known:
 * ask before anything is made of it. Not SAMPLE_WAIT_STREAM. */
struct sample_wait futex_judge(const struct futex_call *call, const uint32_t *words, size_t num,
			       pid_t own);

/* If this is a lock of glibc's own that says who holds it, as that of a FILE: the address of the
 * thread's descriptor (_IO_lock_t of bits/types/struct_FILE.h; libc-lock.h). 0: it is none. */
uint64_t futex_holder(const struct futex_call *call, const uint32_t *words, size_t num);

/* A plain FUTEX_WAIT without time limit, for threads of the process. */
bool futex_is_simple(const struct futex_call *call);

/* May it be a lock of glibc's allocator (lowlevellock.h), which does not say who holds it? */
bool futex_is_plain(const struct futex_call *call, const uint32_t *words, size_t num);

/* Of a wait for what these kinds are about (SAMPLE_WAIT_READERS, SAMPLE_WAIT_BARRIER): how many
 * readers hold it; how many of how many threads are at the barrier. */
uint32_t futex_readers(const struct futex_call *call);
uint32_t futex_arrived(const struct futex_call *call, const uint32_t *words, uint32_t *all_ret);

/* Is the address within the descriptor of a thread, as glibc has it on x86-64? A number there that
 * a futex waits for is that of the thread, whose end clears it. `before`: the FUTEX_BEFORE words of
 * memory that end where the 64 bytes begin that the address is in. */
enum { FUTEX_BEFORE = 128 };
bool futex_is_of_thread(uint64_t address, const uint64_t *before);

/* Is a descriptor at that address? `words`: its first FUTEX_DESCRIPTOR. */
enum { FUTEX_DESCRIPTOR = 3 };
bool futex_is_descriptor(uint64_t address, const uint64_t *words);
/* Where it has the thread's number, in bytes (glibc 2.31 to 2.41 on x86-64, struct pthread). */
enum { FUTEX_DESCRIPTOR_TID = 720 };
