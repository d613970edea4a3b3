/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/requests.h"

#include <sched.h>

#include "model/recorder/slow.h"

enum { SPINS = 200, NEW_SLOTS = 64 };

bool requests_init(struct requests *r, struct writer *w)
{
	const size_t own = SEG_MAX_REQUESTS * sizeof(r->own[0]);
	const size_t buckets = REQUESTS_BUCKETS * sizeof(r->buckets[0]);
	char *memory = pages_map(own + buckets);

	if (!memory)
		return false;
	*r = (struct requests){
		.own = (struct requests_own *)memory,
		.buckets = (uint32_t *)(memory + own),
		.table = &w->header->tables[SEG_TABLE_REQUESTS],
		.free = REQUESTS_NONE,
		.is_shared = true,
		.writer = w,
	};
	r->slots = writer_entries(w, SEG_TABLE_REQUESTS);
	return true;
}

void requests_wait_for_lock(struct requests *r, uint32_t owner)
{
	uint32_t holder = 0;

	for (int spins = 0; !atomic_compare_exchange_weak_explicit(
		     &r->owner, &holder, owner, memory_order_acquire, memory_order_relaxed);
	     holder = 0) {
		if (holder == owner)
			return;
		if (++spins % SPINS == 0)
			sched_yield();
	}
}

/* ---- The table ---- */

static void give_back(struct requests *r, uint32_t slot)
{
	r->own[slot].next = r->free;
	r->free = slot;
}

static bool publish_more(struct requests *r)
{
	uint32_t first;

	if (!writer_next(r->writer, SEG_TABLE_REQUESTS, NEW_SLOTS, &first))
		return false;
	writer_publish(r->writer, SEG_TABLE_REQUESTS, NEW_SLOTS);
	for (uint32_t slot = first + NEW_SLOTS; slot-- > first;)
		give_back(r, slot);
	return true;
}

bool requests_grow(struct requests *r)
{
	struct slow s;

	if (r->is_full)
		return false;
	r->is_full = true;
	if (slow_begin(&s)) {
		r->is_full = !publish_more(r);
		slow_end(&s);
	}
	return !r->is_full;
}

/* In the place of the oldest one, which nobody has come for. */
static void make_orphan(struct requests *r, uint32_t slot)
{
	struct requests_ref *place = &r->orphans[r->num_orphans % REQUESTS_ORPHANS];

	if (r->num_orphans++ >= REQUESTS_ORPHANS && requests_slot(r, *place) != REQUESTS_NONE)
		requests_remove(r, place->slot);
	requests_unlink(r, slot);
	*place = requests_ref(r, slot);
}

void requests_key_comes_again(struct requests *r, uint32_t slot)
{
	if (r->is_shared)
		make_orphan(r, slot);
	else
		requests_remove(r, slot);
}

void requests_rename(struct requests *r, uint32_t slot, uint64_t key)
{
	uint32_t *first = requests_bucket(r, key);

	requests_unlink(r, slot);
	r->own[slot].key = key;
	r->own[slot].next = *first - 1;
	*first = slot + 1;
	r->changes++;
}

/* There was no room for all of it. */
static COLD void drop(struct requests *r, const uint32_t *slots, uint32_t num)
{
	relaxed_add(&r->table->dropped, 1);
	for (uint32_t i = 0; i < num; i++)
		if (slots[i] != REQUESTS_NONE)
			give_back(r, slots[i]);
}

void requests_use_all(struct requests *r, uint64_t key, const uint32_t *slots, uint32_t num,
		      uint64_t ticks)
{
	if (slots[0] == REQUESTS_NONE || slots[num - 1] == REQUESTS_NONE) {
		uint32_t former = requests_find(r, key);
		if (former != REQUESTS_NONE)
			requests_key_comes_again(r, former);
		drop(r, slots, num);
		return;
	}
	requests_use(r, key, slots[0], ticks);
	if (num == 2) {
		relaxed_set(&r->slots[slots[1]].ticks, ticks);
		requests_set_kind(r, slots[1], r->own[slots[1]].kind);
		r->own[slots[0]].half = slots[1];
	}
}
