/* SPDX-License-Identifier: BSD-3-Clause
 * From MPI's handles to small numbers, for handles that come and go: a program may make thousands
 * of windows, but have few at a time. Looking up takes no lock; changes need one.
 *
 * Not an idhash, whose keys stay. Open addressing with linear probing. A key is within HANDLES_NEAR
 * slots of its place, so that slots of removed keys can be used again. A table that became too
 * small stays mapped, since another thread may be reading it. */
#pragma once

#include "model/recorder/base.h"

enum {
	HANDLES_NEAR = 128,
	HANDLES_FIRST_SLOTS = 256,
	HANDLES_MAX_SLOTS = 1 << 16,
};
#define HANDLES_NO_KEY UINT64_MAX
#define HANDLES_UNKNOWN (UINT32_MAX - 1) /* what a key means that is not there */

struct handles_slot {
	_Atomic uint64_t key; /* 0: empty; a slot is never emptied. HANDLES_NO_KEY: changes hands */
	_Atomic uint32_t index;
};

struct handles_table {
	uint32_t mask; /* number of slots - 1 */
	struct handles_slot slots[];
};

/* All zero: none. */
struct handles {
	struct handles_table *_Atomic table; /* NULL until the first handles_map() */
	uint32_t num;                        /* keys there now */
};

/* Where the search for a key begins, of 65,536. */
static inline uint32_t handles_place(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15u >> 48;
}

/* What a key (not 0, not HANDLES_NO_KEY) means, or HANDLES_UNKNOWN. */
static ALWAYS_INLINE uint32_t handles_find(const struct handles *h, uint64_t key)
{
	/* Pairs with the release that publishes the table. */
	const struct handles_table *t = atomic_load_explicit(&h->table, memory_order_acquire);
	uint32_t at = handles_place(key);

	for (uint32_t i = 0; t && i < HANDLES_NEAR; i++) {
		const struct handles_slot *slot = &t->slots[(at + i) & t->mask];
		/* Pairs with the release of the key: the index is that of the key, or newer. */
		uint64_t found = atomic_load_explicit(&slot->key, memory_order_acquire);
		if (likely(found == key)) {
			/* Pairs with the release of the index: another key's is seen. */
			uint32_t index = atomic_load_explicit(&slot->index, memory_order_acquire);
			found = relaxed_get(&slot->key);
			return likely(found == key) ? index : HANDLES_UNKNOWN;
		}
		if (found == 0)
			break;
	}
	return HANDLES_UNKNOWN;
}

/* From now on the key means `index`; HANDLES_UNKNOWN: nothing. False when there is no room. */
bool handles_map(struct handles *h, uint64_t key, uint32_t index);
