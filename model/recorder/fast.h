/* SPDX-License-Identifier: BSD-3-Clause
 * What the fast path is written in. */
#ifndef PDB_RECORDER_FAST_H
#define PDB_RECORDER_FAST_H

#include <stdatomic.h>

#define likely(x_) __builtin_expect(!!(x_), 1)
#define unlikely(x_) __builtin_expect(!!(x_), 0)

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#define COLD __attribute__((noinline, cold))

/* Words that others read meanwhile; nothing else is ordered by them. */
#define relaxed_get(word_) atomic_load_explicit(word_, memory_order_relaxed)
#define relaxed_set(word_, value_) atomic_store_explicit(word_, value_, memory_order_relaxed)
#define relaxed_add(word_, value_) atomic_fetch_add_explicit(word_, value_, memory_order_relaxed)

#endif
