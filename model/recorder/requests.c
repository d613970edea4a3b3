/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/requests.h"

#include <sched.h>

#include "model/recorder/pages.h"

#define RELAXED memory_order_relaxed

enum { SPINS = 200, NEW_SLOTS = 64 };

bool requests_init(struct requests *r, struct writer *w, bool (*grow)(struct requests *r))
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
		.grow = grow,
	};
	r->slots = (void *)((char *)w->header + r->table->offset);
	return true;
}

bool requests_extend(struct requests *r, struct writer *w)
{
	uint32_t first;

	if (!writer_next(w, SEG_TABLE_REQUESTS, NEW_SLOTS, &first))
		return false;
	writer_publish(w, SEG_TABLE_REQUESTS, NEW_SLOTS);
	for (uint32_t slot = first + NEW_SLOTS; slot-- > first;) {
		r->own[slot].next = r->free;
		r->free = slot;
	}
	return true;
}

void requests_wait_for_lock(struct requests *r, uint32_t owner)
{
	uint32_t holder = 0;

	for (int spins = 0; !atomic_compare_exchange_weak_explicit(
		     &r->owner, &holder, owner, memory_order_acquire, RELAXED);
	     holder = 0) {
		if (holder == owner)
			return;
		if (++spins % SPINS == 0)
			sched_yield();
	}
}

/* ---- Slots ------------------------------------------------------------------------------------- */

/* Keys change together with slots, so this is where all changes are counted. */
static uint32_t section_begin(struct requests *r, uint32_t number)
{
	struct seg_request *slot = &r->slots[number];
	uint32_t seq = atomic_load_explicit(&slot->seq, RELAXED) | 1;

	r->changes++;
	atomic_store_explicit(&slot->seq, seq, RELAXED);
	atomic_thread_fence(memory_order_release);
	return seq;
}

static void section_end(struct seg_request *slot, uint32_t seq)
{
	atomic_store_explicit(&slot->seq, seq + 1, memory_order_release);
}

void requests_set_flags(struct requests *r, uint32_t slot, uint32_t flags)
{
	uint32_t seq = section_begin(r, slot);

	atomic_store_explicit(&r->slots[slot].flags, flags, RELAXED);
	section_end(&r->slots[slot], seq);
}

void requests_count(struct requests *r, uint32_t slot, uint64_t ordinal, uint32_t lane, uint32_t row)
{
	uint32_t seq = section_begin(r, slot);

	atomic_store_explicit(&r->slots[slot].ordinal, ordinal, RELAXED);
	atomic_store_explicit(&r->slots[slot].lane, lane, RELAXED);
	section_end(&r->slots[slot], seq);
	r->own[slot].row = row;
	r->own[slot].lane = lane;
}

void requests_activate(struct requests *r, uint32_t slot, uint64_t ticks)
{
	uint32_t seq = section_begin(r, slot);

	atomic_store_explicit(&r->slots[slot].flags,
			      requests_flags(r, slot) | SEG_REQUEST_ACTIVE, RELAXED);
	atomic_store_explicit(&r->slots[slot].ticks, ticks, RELAXED);
	section_end(&r->slots[slot], seq);
}

/* ---- The table ----------------------------------------------------------------------------------- */

/* From free to used, or back. */
static void next_serial(struct requests *r, uint32_t slot)
{
	_Atomic uint32_t *serial = &r->own[slot].serial;

	atomic_store_explicit(serial, atomic_load_explicit(serial, RELAXED) + 1, RELAXED);
}

static void give_back(struct requests *r, uint32_t slot)
{
	r->own[slot].next = r->free;
	r->free = slot;
}

static void release(struct requests *r, uint32_t slot)
{
	uint32_t seq = section_begin(r, slot);

	atomic_store_explicit(&r->slots[slot].kind, SEG_REQUEST_FREE, RELAXED);
	section_end(&r->slots[slot], seq);
	next_serial(r, slot);
	r->own[slot].key = REQUESTS_KEY_NULL;
	give_back(r, slot);
}

static void unlink_key(struct requests *r, uint32_t slot)
{
	uint32_t *first = requests_bucket(r, r->own[slot].key);
	uint32_t at = *first - 1;

	if (at == slot) {
		*first = r->own[slot].next + 1;
	} else {
		while (r->own[at].next != slot)
			at = r->own[at].next;
		r->own[at].next = r->own[slot].next;
	}
	r->own[slot].key = REQUESTS_KEY_NULL;
}

void requests_remove(struct requests *r, uint32_t slot)
{
	uint32_t half = r->own[slot].half;

	if (r->own[slot].key != REQUESTS_KEY_NULL)
		unlink_key(r, slot);
	release(r, slot);
	if (half != REQUESTS_NONE)
		release(r, half);
}

/* In the place of the oldest one, which nobody has come for. */
static void make_orphan(struct requests *r, uint32_t slot)
{
	struct requests_ref *place = &r->orphans[r->num_orphans % REQUESTS_ORPHANS];

	if (r->num_orphans++ >= REQUESTS_ORPHANS && requests_slot(r, *place) != REQUESTS_NONE)
		requests_remove(r, place->slot);
	unlink_key(r, slot);
	*place = requests_ref(r, slot);
}

/* MPI has given the handle out again, so what had it is complete, and if another thread has seen
 * that it is about to say so. */
static __attribute__((noinline, cold)) void key_comes_again(struct requests *r, uint32_t slot)
{
	if (r->is_shared)
		make_orphan(r, slot);
	else
		requests_remove(r, slot);
}

uint32_t requests_take(struct requests *r)
{
	if (__builtin_expect(r->free == REQUESTS_NONE, 0) && !r->is_full)
		r->is_full = !r->grow(r);
	uint32_t slot = r->free;
	if (slot != REQUESTS_NONE)
		r->free = r->own[slot].next;
	return slot;
}

static void use(struct requests *r, uint32_t slot, uint64_t ticks)
{
	uint32_t seq = section_begin(r, slot);

	atomic_store_explicit(&r->slots[slot].kind, r->own[slot].kind, RELAXED);
	atomic_store_explicit(&r->slots[slot].ticks, ticks, RELAXED);
	section_end(&r->slots[slot], seq);
	next_serial(r, slot);
}

/* There was no room for all of it. */
static __attribute__((noinline, cold)) void drop(struct requests *r, const uint32_t *slots,
						 uint32_t num)
{
	atomic_fetch_add_explicit(&r->table->dropped, 1, RELAXED);
	for (uint32_t i = 0; i < num; i++)
		if (slots[i] != REQUESTS_NONE)
			give_back(r, slots[i]);
}

void requests_use(struct requests *r, uint64_t key, const uint32_t *slots, uint32_t num,
		  uint64_t ticks)
{
	uint32_t former = requests_find(r, key), *first = requests_bucket(r, key);

	if (__builtin_expect(former != REQUESTS_NONE, 0))
		key_comes_again(r, former);
	if (__builtin_expect(slots[0] == REQUESTS_NONE || slots[num - 1] == REQUESTS_NONE, 0)) {
		drop(r, slots, num);
		return;
	}
	for (uint32_t i = 0; i < num; i++)
		use(r, slots[i], ticks);
	struct requests_own *own = &r->own[slots[0]];
	own->half = num == 2 ? slots[1] : REQUESTS_NONE;
	own->key = key;
	own->next = *first - 1;
	*first = slots[0] + 1;
}

uint32_t requests_add(struct requests *r, uint64_t key, const struct request *request)
{
	uint32_t slot = requests_take(r);

	if (slot != REQUESTS_NONE)
		requests_fill(r, slot, request);
	requests_use(r, key, &slot, 1, request->ticks);
	return slot;
}
