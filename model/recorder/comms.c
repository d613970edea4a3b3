/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/comms.h"

#include <string.h>

enum {
	MAX_NAMES = 8,                        /* of one entry */
	MAX_NAME = 128,                       /* bytes; MPI_MAX_OBJECT_NAME is less or equal */
	MAX_NAME_BYTES = SEG_MAX_STRINGS / 4, /* the rest is for names of functions and modules */
};

struct comms comms_here;

/* ---- Handles ---- */

static uint64_t *own_key(struct comms *c, uint64_t key, uint32_t index)
{
	return &c->own[index].keys[(key & 7) % 2];
}

bool comms_map(struct comms *c, uint64_t key, uint32_t index)
{
	if (!comms_has(c, index))
		return handles_map(&c->handles, key, SEG_NO_COMM);
	if (!handles_map(&c->handles, key, index))
		return false;
	*own_key(c, key, index) = key;
	return true;
}

void comms_unmap(struct comms *c, uint32_t index)
{
	if (!comms_has(c, index))
		return;
	for (int i = 0; i < 2; i++)
		if (c->own[index].keys[i])
			handles_map(&c->handles, c->own[index].keys[i], HANDLES_UNKNOWN);
	memset(c->own[index].keys, 0, sizeof(c->own[index].keys));
}

static size_t epochs_size(const struct comms *c, uint32_t index)
{
	return sizeof(struct comms_epochs) + 2ul * c->entries[index].size * sizeof(int32_t);
}

struct comms_epochs *comms_make_epochs(struct comms *c, uint32_t index)
{
	if (!comms_has(c, index) || c->entries[index].size == 0)
		return NULL;
	struct comms_epochs *epochs = pages_map(epochs_size(c, index));
	if (epochs) {
		epochs->peers[COMMS_ACCESS] = (int32_t *)(epochs + 1);
		epochs->peers[COMMS_EXPOSURE] = (int32_t *)(epochs + 1) + c->entries[index].size;
		c->own[index].epochs = epochs;
	}
	return epochs;
}

static const struct comms_queue empty_queue = {SEG_NO_COMM, SEG_NO_COMM};

static void push(struct comms *c, struct comms_queue *queue, uint32_t index)
{
	uint32_t last = queue->last;

	/* In this order nothing is wrong if a handler jumps out, but that entries may be lost. */
	c->own[index].next = SEG_NO_COMM;
	queue->last = index;
	if (queue->first == SEG_NO_COMM)
		queue->first = index;
	else
		c->own[last].next = index;
}

/* SEG_NO_COMM: it is empty. */
static uint32_t pop(const struct comms *c, struct comms_queue *queue)
{
	uint32_t index = queue->first;

	if (index != SEG_NO_COMM)
		queue->first = c->own[index].next;
	return index;
}

void comms_freed(struct comms *c, uint32_t index)
{
	comms_unmap(c, index);
	if (!comms_has(c, index) ||
	    atomic_exchange_explicit(&c->entries[index].is_freed, 1, memory_order_release))
		return;
	pages_unmap(c->own[index].epochs, epochs_size(c, index));
	c->own[index].epochs = NULL;
	comms_flush(c, index, COMMS_ALL);
	if (!c->own[index].is_counted)
		push(c, &c->freed, index);
}

/* ---- Lists of ranks ---- */

static bool is_world_order(const int32_t *list, uint32_t num)
{
	for (uint32_t i = 0; i < num; i++)
		if (list[i] != (int32_t)i)
			return false;
	return true;
}

/* The same list, stored before; or SEG_NO_MEMBERS. */
static uint32_t find_list(const struct comms *c, const struct writer *w, const int32_t *list,
			  uint32_t num, uint64_t hash)
{
	const struct seg_table *table = &w->header->tables[SEG_TABLE_MEMBERS];
	const int32_t *stored = writer_entries(w, SEG_TABLE_MEMBERS);
	uint32_t count = relaxed_get(&table->count);
	uint32_t first = IDHASH_FIND(&c->lists, hash, at,
				     num <= count - at &&
					     memcmp(stored + at, list, num * sizeof(*list)) == 0);

	return first == IDHASH_NONE ? SEG_NO_MEMBERS : first;
}

/* First index of the list in MEMBERS; SEG_NO_MEMBERS when there is no room. */
static uint32_t store_list(struct comms *c, struct writer *w, const int32_t *list, uint32_t num)
{
	uint64_t hash = commid_of_members(list, num);
	uint32_t first = find_list(c, w, list, num, hash);

	if (first != SEG_NO_MEMBERS || num == 0)
		return first;
	int32_t *to = writer_next(w, SEG_TABLE_MEMBERS, num, &first);
	if (!to)
		return SEG_NO_MEMBERS;
	memcpy(to, list, num * sizeof(*list));
	writer_publish(w, SEG_TABLE_MEMBERS, num);
	idhash_add(&c->lists, hash, first);
	return first;
}

static uint32_t store_members(struct comms *c, struct writer *w, const int32_t *list, uint32_t num)
{
	if (!list)
		return SEG_NO_MEMBERS;
	return is_world_order(list, num) && num == c->entries[0].size ? SEG_ALL_MEMBERS
								      : store_list(c, w, list, num);
}

/* ---- Entries ---- */

/* But for the number of its sequence lock. */
static void clear_entry(struct seg_comm *entry)
{
	*entry = (struct seg_comm){
		.rank = -1,
		.members = SEG_NO_MEMBERS,
		.remote_members = SEG_NO_MEMBERS,
		.sources = SEG_NO_MEMBERS,
		.seq = entry->seq,
	};
}

/* The next entry, empty; NULL without room. Not visible yet, or, if it was another's before, in a
 * section that publish() ends. */
static struct seg_comm *next_entry(struct comms *c, struct writer *w, uint32_t *index_ret)
{
	if (c->again != SEG_NO_COMM) {
		*index_ret = c->again;
		section_begin(&c->entries[c->again].seq);
		return &c->entries[c->again];
	}
	struct seg_comm *entry = writer_next(w, SEG_TABLE_COMMS, 1, index_ret);
	if (entry)
		clear_entry(entry);
	return entry;
}

static void publish(struct comms *c, struct writer *w, uint32_t index)
{
	if (index == c->again) {
		section_end(&c->entries[index].seq, c->entries[index].seq);
		c->again = SEG_NO_COMM;
		return;
	}
	writer_publish(w, SEG_TABLE_COMMS, 1);
	relaxed_set(&c->num, index + 1);
}

struct busy {
	uint64_t entries[SEG_MAX_COMMS / 64];
};

/* Entries that a request is about which has not ended. MPI completes those of what is freed. */
static void find_busy(const struct writer *w, struct busy *busy)
{
	const struct seg_table *table = &w->header->tables[SEG_TABLE_REQUESTS];
	const struct seg_request *requests = writer_entries(w, SEG_TABLE_REQUESTS);
	uint32_t count = relaxed_get(&table->count);

	memset(busy, 0, sizeof(*busy));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t comm = relaxed_get(&requests[i].comm);
		if (relaxed_get(&requests[i].kind) != SEG_REQUEST_FREE && comm < SEG_MAX_COMMS)
			busy->entries[comm / 64] |= 1ull << comm % 64;
	}
}

static bool is_busy(const struct busy *busy, uint32_t index)
{
	return busy->entries[index / 64] >> index % 64 & 1;
}

/* Nothing makes a request about what is freed, so the requests are looked through once for all
 * of it. */
static void find_idle(struct comms *c, const struct writer *w)
{
	struct comms_queue still_busy = empty_queue;
	struct busy busy;
	uint32_t index;

	if (c->freed.first == SEG_NO_COMM)
		return;
	find_busy(w, &busy);
	while ((index = pop(c, &c->freed)) != SEG_NO_COMM)
		push(c, is_busy(&busy, index) ? &still_busy : &c->idle, index);
	c->freed = still_busy;
}

uint32_t comms_recycle(struct comms *c, struct writer *w)
{
	if (relaxed_get(&c->num) < COMMS_MANY || c->again != SEG_NO_COMM)
		return c->again;
	if (c->idle.first == SEG_NO_COMM)
		find_idle(c, w);
	uint32_t index = pop(c, &c->idle);
	if (index == SEG_NO_COMM)
		return SEG_NO_COMM;
	uint32_t seq = section_begin(&c->entries[index].seq);
	clear_entry(&c->entries[index]);
	section_end(&c->entries[index].seq, seq);
	memset(&c->own[index], 0, sizeof(c->own[index]));
	relaxed_add(&w->header->reused_comms, 1);
	c->again = index;
	return index;
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
	struct seg_comm *entry = writer_next(w, SEG_TABLE_COMMS, 1, &index);

	if (!entry)
		return;
	c->entries = entry;
	clear_entry(entry);
	entry->rank = rank;
	entry->size = size;
	if (size) {
		c->own[index].members = members_up_to(size);
		entry->members = SEG_ALL_MEMBERS;
		entry->id = commid(COMMID_WORLD, 0, 0, 0, c->own[index].members);
	}
	publish(c, w, index);
}

static void add_self(struct comms *c, struct writer *w, int32_t rank)
{
	uint32_t index;
	struct seg_comm *entry = next_entry(c, w, &index);

	if (!entry)
		return;
	entry->rank = 0;
	entry->size = 1;
	if (rank >= 0) {
		c->own[index].members = commid_of_members(&rank, 1);
		entry->members = store_members(c, w, &rank, 1);
		entry->id = commid(COMMID_SELF, 0, 0, 0, c->own[index].members);
	}
	publish(c, w, index);
}

void comms_predefine(struct comms *c, struct writer *w, int world_rank, uint32_t world_size)
{
	if (c->entries)
		return;
	c->again = SEG_NO_COMM;
	c->freed = c->idle = empty_queue;
	add_world(c, w, world_rank, world_size);
	add_self(c, w, world_rank);
}

uint32_t comms_adopt(struct comms *c, struct writer *w, uint64_t key, enum seg_comm_kind kind)
{
	uint32_t index = comms_find(c, key);

	if (index != HANDLES_UNKNOWN)
		return index;
	/* Without room for the key no entry is made, or each call would make another. */
	struct seg_comm *entry =
		handles_map(&c->handles, key, SEG_NO_COMM) ? next_entry(c, w, &index) : NULL;
	if (!entry)
		return SEG_NO_COMM;
	entry->kind = kind;
	publish(c, w, index);
	comms_map(c, key, index);
	return index;
}

/* ---- What is made ---- */

uint32_t comms_child(struct comms *c, uint32_t parent)
{
	if (!comms_has(c, parent))
		return 0;
	return relaxed_add(&c->own[parent].children, 1) + 1;
}

static bool all_of_this_world(const int32_t *list, uint32_t num)
{
	for (uint32_t i = 0; list && i < num; i++)
		if (list[i] < 0)
			return false;
	return list || num == 0;
}

/* 0: something that the id is made of is not known. */
static uint64_t members_of(const struct comms *c, const struct comms_new *n)
{
	if (n->like_parent)
		return c->own[n->parent].members;
	if (!all_of_this_world(n->members, n->size) ||
	    !all_of_this_world(n->remote, n->remote_size))
		return 0;
	uint64_t hash = commid_of_members(n->members, n->size);
	return n->remote_size ? hash + commid_of_members(n->remote, n->remote_size) : hash;
}

/* Its ordinal and id; 0: cannot be known. */
static void identify(struct comms *c, const struct comms_new *n, uint64_t members, uint32_t index)
{
	struct seg_comm *entry = &c->entries[index];
	bool is_of_parent = n->origin == COMMID_COLLECTIVE || n->origin == COMMID_GROUP;
	uint64_t parent = is_of_parent ? entry->parent_id : 0;

	entry->ordinal = n->ordinal;
	if (members == 0 || n->origin == COMMID_NONE || (is_of_parent && parent == 0))
		return;
	if (n->origin != COMMID_COLLECTIVE) {
		/* Not of all that the parent has, so its count of children is no use. */
		uint64_t first_id = commid(n->origin, parent, 1, n->extra, members);
		uint32_t first = IDHASH_FIND(&c->ids, first_id, at, c->entries[at].id == first_id);
		entry->ordinal = first == IDHASH_NONE ? 1 : ++c->own[first].again + 1;
	}
	entry->id = commid(n->origin, parent, entry->ordinal, n->extra, members);
	if (n->origin != COMMID_COLLECTIVE && entry->ordinal == 1) {
		c->own[index].is_counted = true;
		idhash_add(&c->ids, entry->id, index);
	}
}

static void set_groups(struct comms *c, struct writer *w, const struct comms_new *n,
		       struct seg_comm *entry)
{
	if (n->like_parent) {
		const struct seg_comm *parent = &c->entries[n->parent];
		entry->rank = parent->rank;
		entry->size = parent->size;
		entry->members = parent->members;
		entry->remote_size = parent->remote_size;
		entry->remote_members = parent->remote_members;
		if (n->has_topology_of_parent) {
			entry->num_sources = parent->num_sources;
			entry->num_destinations = parent->num_destinations;
			entry->sources = parent->sources;
		}
		return;
	}
	entry->rank = n->rank;
	entry->size = n->size;
	entry->members = store_members(c, w, n->members, n->size);
	entry->remote_size = n->remote_size;
	if (n->remote_size)
		entry->remote_members = store_members(c, w, n->remote, n->remote_size);
	entry->num_sources = n->num_sources;
	if (n->sources)
		entry->sources = store_list(c, w, n->sources, n->num_sources + n->num_destinations);
	if (entry->sources != SEG_NO_MEMBERS)
		entry->num_destinations = n->num_destinations;
}

/* The handle's value comes again, so what had it is gone, though nobody said so. */
static void forget_former(struct comms *c, uint64_t key)
{
	uint32_t former = comms_find(c, key);

	if (comms_has(c, former))
		comms_freed(c, former);
}

uint32_t comms_add(struct comms *c, struct writer *w, const struct comms_new *n)
{
	bool can_be_known = !n->like_parent || comms_has(c, n->parent);
	struct seg_comm *entry = NULL;
	uint32_t index;

	forget_former(c, n->key);
	if (can_be_known)
		entry = next_entry(c, w, &index);
	if (!entry) {
		handles_map(&c->handles, n->key, SEG_NO_COMM);
		return SEG_NO_COMM;
	}
	uint64_t members = members_of(c, n);
	entry->kind = n->kind;
	entry->site = n->site;
	if (comms_has(c, n->parent))
		entry->parent_id = c->entries[n->parent].id;
	identify(c, n, members, index);
	set_groups(c, w, n, entry);
	c->own[index].members = members;
	publish(c, w, index);
	comms_map(c, n->key, index);
	return index;
}

void comms_name(struct comms *c, struct writer *w, uint32_t index, const char *text,
		uint32_t length)
{
	char name[MAX_NAME];

	if (!comms_has(c, index) || c->own[index].names >= MAX_NAMES ||
	    c->name_bytes + length >= MAX_NAME_BYTES)
		return;
	length = length < MAX_NAME ? length : MAX_NAME - 1;
	memcpy(name, text, length);
	name[length] = '\0';
	if (strcmp(name, (const char *)writer_entries(w, SEG_TABLE_STRINGS) +
				 c->entries[index].name) == 0)
		return;
	c->own[index].names++;
	c->name_bytes += length + 1;
	atomic_store_explicit(&c->entries[index].name, writer_string(w, name),
			      memory_order_release);
}

/* ---- Collectives ---- */

uint64_t comms_start(struct comms *c, uint32_t index, uint32_t site, int32_t root, uint64_t bytes)
{
	if (!comms_has(c, index))
		return 0;
	struct seg_comm *comm = &c->entries[index];
	uint64_t number = relaxed_get(&comm->collectives) + 1;
	struct seg_collective *recent = &comm->recent[number % SEG_RECENT];
	uint32_t seq = section_begin(&comm->seq);

	relaxed_set(&recent->number, number);
	relaxed_set(&recent->bytes, bytes);
	relaxed_set(&recent->site, site);
	relaxed_set(&recent->root, root);
	relaxed_set(&comm->collectives, number);
	section_end(&comm->seq, seq);
	return number;
}
