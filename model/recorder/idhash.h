/* SPDX-License-Identifier: BSD-3-Clause
 * A set of ids, found by the hash of what they stand for: open addressing with linear probing in
 * private pages. The keys are in tables of their own; IDHASH_FIND() compares. */
#pragma once

#include "model/recorder/base.h"

#define IDHASH_NONE UINT32_MAX

struct idhash_slot {
	uint32_t id_plus_1; /* 0: empty */
	uint32_t tag;       /* hash of the key; its low bits are where the search begins */
};

struct idhash {
	struct idhash_slot *slots; /* NULL until the first idhash_add() */
	uint32_t mask;             /* number of slots - 1 */
	uint32_t used;
};

struct idhash_probe {
	uint32_t at, tag;
};

static inline uint64_t idhash_mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15u;
	return x ^ x >> 29;
}

static inline struct idhash_probe idhash_probe(const struct idhash *h, uint64_t key)
{
	uint64_t x = key * 0xbf58476d1ce4e5b9u;
	return (struct idhash_probe){.at = (x >> 32) & h->mask, .tag = x >> 32};
}

static inline uint32_t idhash_next(const struct idhash *h, struct idhash_probe *p)
{
	if (!h->slots)
		return IDHASH_NONE;
	for (;;) {
		struct idhash_slot slot = h->slots[p->at];
		p->at = (p->at + 1) & h->mask;
		if (slot.id_plus_1 == 0)
			return IDHASH_NONE;
		if (slot.tag == p->tag)
			return slot.id_plus_1 - 1;
	}
}

/* The id under `key` for which the expression `is_it_`, about `id_`, holds; or IDHASH_NONE. */
#define IDHASH_FIND(hash_, key_, id_, is_it_)                                                      \
	({                                                                                         \
		struct idhash_probe probe = idhash_probe(hash_, key_);                             \
		uint32_t id_;                                                                      \
		do                                                                                 \
			id_ = idhash_next(hash_, &probe);                                          \
		while (id_ != IDHASH_NONE && !(is_it_));                                           \
		id_;                                                                               \
	})

/* Add `id` under `key`; it must not be there yet. False when there is no memory: not added. */
bool idhash_add(struct idhash *h, uint64_t key, uint32_t id);
void idhash_clear(struct idhash *h);
