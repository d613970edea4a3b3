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
	bool is_restarted; /* the kernel does not tell any more that it is this system call */
};

/* The call that a thread was stopped in, and to which it goes back. False: it is in none, or the
 * registers of this machine do not tell. */
bool futex_call_of(const struct user_regs_struct *regs, struct futex_call *ret);

/* The wait of a call if it is not known who will end it. */
struct sample_wait futex_of_nobody(const struct futex_call *call);

/* By what the words were while the thread stood still; num: how many could be read. tid and `own`,
 * the thread's, are by the numbers of its pid namespace. That there is such a thread is not known:
 * ask before anything is made of it. */
struct sample_wait futex_judge(const struct futex_call *call, const uint32_t *words, size_t num,
			       pid_t own);

/* Is the address within the descriptor of a thread, as glibc has it on x86-64? A number there that
 * a futex waits for is that of the thread, whose end clears it. `before`: the FUTEX_BEFORE words of
 * memory that end where the 64 bytes begin that the address is in. */
enum { FUTEX_BEFORE = 128 };
bool futex_is_of_thread(uint64_t address, const uint64_t *before);
