/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/queues/ucx_queues.h"
#include "model/job/message_queues.h"

#define MAX_ANY 64 /* members of whom a receive from any may be */

struct comm {
	struct queued_comm described;
	uint32_t index; /* in the result; UINT32_MAX: not there */
	bool has_any;   /* a receive from any of its members waits */
};

/* A message or receive, and whose it is. */
struct item {
	struct ucx_message of;
	int32_t peer;
	uint64_t number;
};

struct items {
	struct item *list;
	size_t num;
};

struct maker {
	struct arena *arena;
	const struct ucx_meaning *meaning;
	void *library;
	struct comm *comms;
	size_t num_comms;
	/* The source of each receive and message, then of whom a receive from any may be. */
	struct ucx_member *members;
	size_t num_members, members_capacity;
	int32_t *ranks;
};

static void add_member(struct maker *m, struct ucx_member member)
{
	*ARENA_PUSH(m->arena, m->members, m->num_members, m->members_capacity) = member;
}

static struct items take_all(struct maker *m, const struct ucx_tag *tags, size_t num)
{
	struct items items = {.list = arena_array(m->arena, num, sizeof(*items.list))};

	for (size_t i = 0; i < num; i++) {
		struct item *item = &items.list[items.num];
		struct comm *comm;

		if (!m->meaning->take(m->library, &tags[i], &item->of))
			continue;
		items.num++;
		item->number = tags[i].number;
		comm = &m->comms[item->of.source.comm];
		comm->index = 0; /* it gets one */
		if (item->of.source.in_comm == MESSAGE_ANY_PEER)
			comm->has_any = true;
		else
			add_member(m, item->of.source);
	}
	return items;
}

/* Those that have messages, in their order. */
static void put_comms(struct maker *m, struct message_queues *ret)
{
	ret->comms = xcalloc(m->num_comms + 1, sizeof(*ret->comms));
	for (size_t i = 0; i < m->num_comms; i++) {
		struct comm *comm = &m->comms[i];

		if (comm->index == UINT32_MAX)
			continue;
		m->meaning->describe(m->library, i, &comm->described);
		comm->index = (uint32_t)ret->num_comms;
		ret->comms[ret->num_comms++] = comm->described;
	}
}

static bool has_members_of_any(const struct comm *comm)
{
	return comm->has_any && comm->described.size <= MAX_ANY;
}

static bool read_ranks(struct maker *m)
{
	for (size_t i = 0; i < m->num_comms; i++)
		for (uint32_t j = 0;
		     has_members_of_any(&m->comms[i]) && j < m->comms[i].described.size; j++)
			add_member(m, (struct ucx_member){i, (int32_t)j});
	m->ranks = arena_array(m->arena, m->num_members, sizeof(*m->ranks));
	return m->meaning->read_ranks(m->library, m->members, m->num_members, m->ranks);
}

SORTED_BY(compare_items, struct item, of.source.comm, peer, number)

/* ranks: the next ones, of these. */
static struct queued_message *put_messages(const struct maker *m, struct items *items,
					   const int32_t **ranks)
{
	struct queued_message *messages = xcalloc(items->num + 1, sizeof(*messages));

	for (size_t i = 0; i < items->num; i++) {
		struct item *item = &items->list[i];

		item->peer = item->of.source.in_comm == MESSAGE_ANY_PEER ? MESSAGE_ANY_PEER
									 : *(*ranks)++;
	}
	qsort(items->list, items->num, sizeof(*items->list), compare_items);
	for (size_t i = 0; i < items->num; i++)
		messages[i] = (struct queued_message){
			.peer = items->list[i].peer,
			.tag = items->list[i].of.tag,
			.comm = m->comms[items->list[i].of.source.comm].index,
		};
	return messages;
}

SORTED_BY(compare_pairs, struct message_pair, peer)

/* UCX does not count messages. Of whom a receive from any may be are all members. */
static void put_pairs(const struct maker *m, const int32_t *ranks, struct message_queues *ret)
{
	ret->pairs = xcalloc((size_t)(m->ranks + m->num_members - ranks) + 1, sizeof(*ret->pairs));
	for (size_t i = 0; i < m->num_comms; i++) {
		const struct comm *comm = &m->comms[i];
		size_t first = ret->num_pairs;

		if (!has_members_of_any(comm))
			continue;
		for (uint32_t j = 0; j < comm->described.size; j++)
			ret->pairs[ret->num_pairs++] =
				(struct message_pair){.peer = *ranks++, .comm = comm->index};
		qsort(ret->pairs + first, ret->num_pairs - first, sizeof(*ret->pairs),
		      compare_pairs);
	}
}

struct message_queues *ucx_queues_read(const struct memory *memory, const struct ucx_worker *worker,
				       size_t num_comms, const struct ucx_meaning *meaning,
				       void *library, struct arena *arena)
{
	struct maker m = {
		.meaning = meaning, .library = library, .num_comms = num_comms, .arena = arena};
	const struct ucx_tags *tags = ucx_tags_read(memory, worker, arena);
	struct items receives, unexpected;
	const int32_t *ranks;

	if (!tags)
		return NULL;
	m.comms = arena_array(arena, num_comms, sizeof(*m.comms));
	for (size_t i = 0; i < num_comms; i++)
		m.comms[i].index = UINT32_MAX;
	receives = take_all(&m, tags->receives, tags->num_receives);
	unexpected = take_all(&m, tags->messages, tags->num_messages);
	struct message_queues *ret = message_queues_create();
	put_comms(&m, ret);
	if (!read_ranks(&m)) {
		message_queues_destroy(ret);
		return NULL;
	}
	ranks = m.ranks;
	ret->num_posted = tags->num_posted;
	ret->num_receives = receives.num;
	ret->receives = put_messages(&m, &receives, &ranks);
	ret->num_unexpected = unexpected.num;
	ret->unexpected = put_messages(&m, &unexpected, &ranks);
	put_pairs(&m, ranks, ret);
	return ret;
}

bool ucx_place_is_known(struct ucx_place *place, const struct memory *memory,
			bool (*find)(void *library, struct ucx_worker *ret), void *library)
{
	if (place->is_found && ucx_worker_is_current(memory, &place->worker))
		return true;
	place->num_missing++;
	place->is_found = (place->num_missing & (place->num_missing - 1)) == 0 &&
			  find(library, &place->worker);
	if (place->is_found)
		place->num_missing = 0;
	return place->is_found;
}
