/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/comms.h"

#include "model/recorder/commid.h"

#define RELAXED memory_order_relaxed

_Static_assert(COMMS_SLOTS == 1 << 16, "comms_find() takes 16 bits of the hash");

bool comms_map(struct comms *c, uint64_t key, uint32_t index)
{
	uint32_t at = key * 0x9e3779b97f4a7c15u >> 48;
	uint64_t found;

	while ((found = atomic_load_explicit(&c->slots[at].key, RELAXED)) != key && found != 0)
		at = (at + 1) % COMMS_SLOTS;
	if (found == 0 && c->num_slots_used >= COMMS_FULL)
		return false;
	c->num_slots_used += found == 0;
	if (index >= c->num)
		index = SEG_NO_COMM;
	/* Pairs with the acquire loads of comms_find(). */
	atomic_store_explicit(&c->slots[at].index, index, memory_order_release);
	atomic_store_explicit(&c->slots[at].key, key, memory_order_release);
	return true;
}

/* The next entry, not yet visible; NULL when there is no room. */
static struct seg_comm *next_entry(struct comms *c, struct writer *w, uint32_t *index_ret)
{
	struct seg_comm *entry = writer_next(w, SEG_TABLE_COMMS, 1, index_ret);

	if (entry)
		c->entries = entry - *index_ret;
	return entry;
}

static void publish(struct comms *c, struct writer *w)
{
	writer_publish(w, SEG_TABLE_COMMS, 1);
	c->num++;
}

static uint64_t members_up_to(uint32_t size)
{
	uint64_t hash = commid_step(0, size);

	for (uint32_t i = 0; i < size; i++)
		hash = commid_step(hash, i);
	return hash;
}

static void add_world(struct comms *c, struct writer *w, int rank, uint32_t size)
{
	uint32_t index;
	struct seg_comm *entry = next_entry(c, w, &index);

	if (!entry)
		return;
	*entry = (struct seg_comm){
		.rank = rank,
		.size = size,
		.members = size ? SEG_ALL_MEMBERS : SEG_NO_MEMBERS,
		.remote_members = SEG_NO_MEMBERS,
		.sources = SEG_NO_MEMBERS,
	};
	if (size) {
		c->own[index].members = members_up_to(size);
		entry->id = commid(COMMID_WORLD, 0, 0, 0, c->own[index].members);
	}
	publish(c, w);
}

static void add_self(struct comms *c, struct writer *w, int rank)
{
	uint32_t index, first;
	struct seg_comm *entry = next_entry(c, w, &index);

	if (!entry)
		return;
	*entry = (struct seg_comm){
		.size = 1,
		.members = SEG_NO_MEMBERS,
		.remote_members = SEG_NO_MEMBERS,
		.sources = SEG_NO_MEMBERS,
	};
	int32_t *member = rank >= 0 ? writer_next(w, SEG_TABLE_MEMBERS, 1, &first) : NULL;
	if (member) {
		*member = rank;
		entry->members = first;
		writer_publish(w, SEG_TABLE_MEMBERS, 1);
		idhash_add(&c->lists, commid_of_members(&rank, 1), first);
	}
	if (rank >= 0) {
		c->own[index].members = commid_of_members(&rank, 1);
		entry->id = commid(COMMID_SELF, 0, 0, 0, c->own[index].members);
	}
	publish(c, w);
}

void comms_predefine(struct comms *c, struct writer *w, int world_rank, uint32_t world_size)
{
	if (c->entries)
		return;
	add_world(c, w, world_rank, world_size);
	add_self(c, w, world_rank);
}

uint32_t comms_adopt(struct comms *c, struct writer *w, uint64_t key, enum seg_comm_kind kind)
{
	uint32_t index = comms_find(c, key);

	if (index != COMMS_UNKNOWN)
		return index;
	struct seg_comm *entry = next_entry(c, w, &index);
	if (!entry) {
		comms_map(c, key, SEG_NO_COMM);
		return SEG_NO_COMM;
	}
	*entry = (struct seg_comm){
		.kind = kind,
		.rank = -1,
		.members = SEG_NO_MEMBERS,
		.remote_members = SEG_NO_MEMBERS,
		.sources = SEG_NO_MEMBERS,
	};
	publish(c, w);
	comms_map(c, key, index);
	return index;
}

uint64_t comms_start(struct comms *c, uint32_t index, uint32_t site, int32_t root, uint64_t bytes)
{
	if (index == SEG_NO_COMM)
		return 0;
	struct seg_comm *comm = &c->entries[index];
	uint64_t number = atomic_load_explicit(&comm->collectives, RELAXED) + 1;
	struct seg_collective *recent = &comm->recent[number % SEG_RECENT];
	uint32_t seq = atomic_load_explicit(&comm->seq, RELAXED) | 1;

	/* The sequence lock of struct seg_current. */
	atomic_store_explicit(&comm->seq, seq, RELAXED);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&recent->number, number, RELAXED);
	atomic_store_explicit(&recent->bytes, bytes, RELAXED);
	atomic_store_explicit(&recent->site, site, RELAXED);
	atomic_store_explicit(&recent->root, root, RELAXED);
	atomic_store_explicit(&comm->collectives, number, RELAXED);
	atomic_store_explicit(&comm->seq, seq + 1, memory_order_release);
	return number;
}
