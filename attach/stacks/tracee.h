/* SPDX-License-Identifier: BSD-3-Clause
 * Stops threads of other processes for a moment, to copy what an unwinder needs. Only this module
 * uses ptrace, and only in a thread made for it: when that thread ends, the kernel releases all
 * that it still holds. So no tracee can stay seized or stopped. */
#pragma once

#include <sys/user.h>

#include "attach/stacks/futex.h"

/* Memory copied while the thread stood still. */
struct tracee_part {
	uint64_t address;
	uint8_t *bytes; /* of `capacity`, owned by the caller */
	size_t size, capacity;
};

/* Registers of vectors and floating point numbers, as xmm0 (x86-64) or v0 (AArch64). */
enum { TRACEE_MAX_VECTORS = 32 };

struct tracee_vectors {
	size_t num; /* 0: they were not copied */
	uint8_t bytes[TRACEE_MAX_VECTORS][16];
};

enum tracee_result {
	TRACEE_COPIED,
	TRACEE_REFUSED, /* error holds errno */
	TRACEE_GONE,    /* the thread has ended */
	TRACEE_TIMEOUT, /* it did not stop in time (in the kernel, without being interruptible) */
};

struct tracee {
	/* In. */
	pid_t tid;
	const struct maps *maps;    /* where its stack ends; may be NULL */
	struct tracee_part stack;   /* filled from the stack pointer upwards */
	struct tracee_part other;   /* filled from other.address, if that is not 0 */
	struct python_copy *python; /* filled, too, if it is not NULL (python_prepare) */
	bool wants_vectors;
	/* Out. */
	enum tracee_result result;
	int error;
	struct user_regs_struct regs;
	struct tracee_vectors vectors;
	uint64_t blocked; /* signals, by number less one; 0 where that is not known */
	bool is_stopped;  /* it was found stopped by a signal */
	/* In a futex call: it, and words of memory from its address on. */
	struct futex_call futex;
	uint32_t futex_words[FUTEX_WORDS];
	size_t num_futex_words;
	uint64_t when_ns;    /* CLOCK_MONOTONIC, when it was copied */
	uint64_t stopped_ns; /* an upper bound of how long it was stopped */
	/* While it goes on. */
	bool is_wanted;  /* not seized yet */
	bool is_pending; /* seized, not copied yet */
	uint64_t since_ns;
};

/* Stop, copy and release each of the threads. One that a signal has stopped stays stopped; a signal
 * that arrives meanwhile is delivered. All are seized first (which does not stop them), then
 * stopped one after the other, so that each stands still only for its own copy. A blocking system
 * call that Linux does not restart (epoll_wait and others, see signal(7)) returns EINTR, as with
 * every debugger. A thread that another pdb has is tried again for half a second. */
void tracee_copy(struct tracee *tracees, size_t num);

/* Program counter and stack pointer of a set of registers. */
uint64_t tracee_pc(const struct user_regs_struct *regs);
uint64_t tracee_sp(const struct user_regs_struct *regs);
