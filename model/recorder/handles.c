/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/handles.h"

_Static_assert(HANDLES_MAX_SLOTS == 1 << 16, "handles_place() takes 16 bits of the hash");

static size_t table_bytes(uint32_t num_slots)
{
	return sizeof(struct handles_table) + num_slots * sizeof(struct handles_slot);
}

static bool is_used(const struct handles_slot *slot)
{
	return relaxed_get(&slot->key) != 0 && relaxed_get(&slot->index) != HANDLES_UNKNOWN;
}

/* The slot of the key, or the first near one that is not used; NULL: none. */
static struct handles_slot *find_slot(struct handles_table *t, uint64_t key)
{
	struct handles_slot *unused = NULL;
	uint32_t at = handles_place(key);

	for (uint32_t i = 0; i < HANDLES_NEAR; i++) {
		struct handles_slot *slot = &t->slots[(at + i) & t->mask];
		uint64_t found = relaxed_get(&slot->key);
		if (found == key)
			return slot;
		if (!unused && !is_used(slot))
			unused = slot;
		if (found == 0)
			break;
	}
	return unused;
}

/* For the order of these see handles_find(). */
static void put(struct handles_slot *slot, uint64_t key, uint32_t index)
{
	if (relaxed_get(&slot->key) != key)
		relaxed_set(&slot->key, HANDLES_NO_KEY);
	atomic_store_explicit(&slot->index, index, memory_order_release);
	atomic_store_explicit(&slot->key, key, memory_order_release);
}

/* All keys of a table (or NULL) in a new one; NULL without memory, or a place for one of them. */
static struct handles_table *copy(const struct handles_table *t, uint32_t num_slots)
{
	struct handles_table *new = pages_map(table_bytes(num_slots));

	if (!new)
		return NULL;
	new->mask = num_slots - 1;
	for (uint32_t i = 0; t && i <= t->mask; i++) {
		uint64_t key = relaxed_get(&t->slots[i].key);
		if (!is_used(&t->slots[i]))
			continue;
		struct handles_slot *slot = find_slot(new, key);
		if (!slot) {
			pages_unmap(new, table_bytes(num_slots));
			return NULL;
		}
		put(slot, key, relaxed_get(&t->slots[i].index));
	}
	return new;
}

static bool grow(struct handles *h)
{
	struct handles_table *t = relaxed_get(&h->table), *new = NULL;
	uint32_t num_slots = t ? t->mask + 1 : HANDLES_FIRST_SLOTS / 2;

	while (!new &&num_slots < HANDLES_MAX_SLOTS) {
		num_slots *= 2;
		new = copy(t, num_slots);
	}
	if (!new)
		return false;
	atomic_store_explicit(&h->table, new, memory_order_release);
	return true;
}

/* A slot for a key that is not there; NULL when there is no room. */
static struct handles_slot *find_room(struct handles *h, uint64_t key)
{
	struct handles_table *t = relaxed_get(&h->table);
	struct handles_slot *slot = NULL;

	/* Up to a quarter full, one need not look far. */
	if (!t || h->num > t->mask / 4)
		grow(h);
	do {
		t = relaxed_get(&h->table);
		slot = t ? find_slot(t, key) : NULL;
	} while (!slot && grow(h));
	return slot;
}

bool handles_map(struct handles *h, uint64_t key, uint32_t index)
{
	struct handles_table *t = relaxed_get(&h->table);
	struct handles_slot *slot = t ? find_slot(t, key) : NULL;
	bool was_there = slot && relaxed_get(&slot->key) == key && is_used(slot);

	if (!was_there && index == HANDLES_UNKNOWN)
		return true;
	if (!was_there)
		slot = find_room(h, key);
	if (!slot)
		return false;
	put(slot, key, index);
	h->num += (index != HANDLES_UNKNOWN) - was_there;
	return true;
}
