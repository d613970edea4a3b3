/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/idhash.h"

#include "model/recorder/base.h"

enum { FIRST_SLOTS = 512 };

static void put(struct idhash_slot *slots, uint32_t mask, uint32_t at, struct idhash_slot slot)
{
	while (slots[at].id_plus_1)
		at = (at + 1) & mask;
	slots[at] = slot;
}

static bool grow(struct idhash *h)
{
	uint32_t old_size = h->slots ? h->mask + 1 : 0;
	uint32_t size = old_size ? old_size * 2 : FIRST_SLOTS;
	struct idhash_slot *slots = pages_map(size * sizeof(*slots));

	if (!slots)
		return false;
	for (uint32_t i = 0; i < old_size; i++)
		if (h->slots[i].id_plus_1)
			put(slots, size - 1, h->slots[i].tag & (size - 1), h->slots[i]);
	struct idhash_slot *old = h->slots;
	/* In this order, as a signal's handler may jump out between any two. */
	h->slots = slots;
	atomic_signal_fence(memory_order_seq_cst);
	h->mask = size - 1;
	atomic_signal_fence(memory_order_seq_cst);
	pages_unmap(old, old_size * sizeof(*slots));
	return true;
}

bool idhash_add(struct idhash *h, uint64_t key, uint32_t id)
{
	/* Up to three quarters full. */
	if ((!h->slots || h->used >= h->mask / 4 * 3) && !grow(h))
		return false;
	struct idhash_probe p = idhash_probe(h, key);
	put(h->slots, h->mask, p.at, (struct idhash_slot){.id_plus_1 = id + 1, .tag = p.tag});
	h->used++;
	return true;
}

void idhash_clear(struct idhash *h)
{
	pages_unmap(h->slots, h->slots ? (h->mask + 1ul) * sizeof(*h->slots) : 0);
	*h = (struct idhash){0};
}
