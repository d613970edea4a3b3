/* SPDX-License-Identifier: BSD-3-Clause
 * The basics of the recorder: types, macros of the fast path, and private memory straight from the
 * kernel, since the recorder never touches the program's heap. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define likely(x_) __builtin_expect(!!(x_), 1)
#define unlikely(x_) __builtin_expect(!!(x_), 0)

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#define COLD __attribute__((noinline, cold))

/* Words that others read meanwhile; nothing else is ordered by them. */
#define relaxed_get(word_) atomic_load_explicit(word_, memory_order_relaxed)
#define relaxed_set(word_, value_) atomic_store_explicit(word_, value_, memory_order_relaxed)
#define relaxed_add(word_, value_) atomic_fetch_add_explicit(word_, value_, memory_order_relaxed)

/* A section of a sequence lock as of struct seg_current: it begins with an odd number and ends with
 * the next even one. One that the thread was thrown out of (a signal handler's longjmp) is closed
 * by the next one. */
static ALWAYS_INLINE uint32_t section_begin(_Atomic uint32_t *word)
{
	uint32_t seq = relaxed_get(word) | 1;

	relaxed_set(word, seq);
	atomic_thread_fence(memory_order_release);
	return seq;
}

static ALWAYS_INLINE void section_end(_Atomic uint32_t *word, uint32_t seq)
{
	atomic_store_explicit(word, seq + 1, memory_order_release);
}

/* Zeroed memory, given pages as it is touched; NULL when refused (RLIMIT_AS). */
static inline void *pages_map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static inline void pages_unmap(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}
