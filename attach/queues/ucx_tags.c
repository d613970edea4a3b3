/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/process/memory.h"
#include "attach/queues/ucx_queues.h"

#define MAX_TAGS 10000 /* receives, and as many messages: more are not read */
/* A search ends there: damaged memory may be full of what looks like them. */
#define MAX_WORKERS 100000
#define MAX_TABLES 1000
#define TRIES 2         /* the process may change what is just being read */
#define HASH_PRIME 1021 /* UCP_TAG_MATCH_HASH_SIZE */
#define HASH_SIZE 1024  /* of the tables: two remainders combined may be more than the prime */
#define ALL_BITS UINT64_MAX
#define MIN_ADDRESS 4096

enum {
	WORKER_WORDS = 256, /* of a worker, among which the queues begin */
	CONTEXT_WORDS = 64, /* of a worker, one of which is its context */
	/* words from where a library has the worker to where it has the context */
	NEAR = 8,
};

/* ucs_queue_head_t: a list of elements that begin with the address of the next one. */
struct queue_head {
	uint64_t first; /* of any value if it is empty */
	uint64_t last;  /* address of the last element, or of this */
};

/* ucp_request_queue_t */
struct request_queue {
	struct queue_head queue;
	uint32_t num_software, num_blocking;
};

/* ucs_list_link_t: of a ring, whose head is one, too. */
struct link {
	uint64_t previous, next;
};

/* ucp_tag_match_t, up to there, as UCX 1.13 and 1.18 have it, those that were tried. */
struct matching {
	struct request_queue wildcard; /* receives that leave some bits open */
	uint64_t receives;             /* the others: address of HASH_SIZE request_queue */
	uint64_t next_number;          /* that a receive gets */
	uint64_t num_software;
	struct link all;   /* messages */
	uint64_t messages; /* the same, address of HASH_SIZE link */
};

/* Bytes from a receive's element of the queue: layouts differ, but each names its worker. */
static const struct receive_layout {
	int worker, tag; /* bytes; the tag's mask and number follow it */
} receive_layouts[] = {
	{88, 168}, /* 1.13 */
	{-64, 16}, /* 1.18 */
};

/* A message, from its element of the ring of one hash value on. */
struct message {
	struct link hash, all;
	uint64_t length, flags;
	uint64_t tag; /* of the header, with which each kind of message begins */
};

static size_t hash_of(uint64_t tag)
{
	return ((uint32_t)tag % HASH_PRIME) ^ ((uint32_t)(tag >> 32) % HASH_PRIME);
}

static bool may_be_address(uint64_t word)
{
	return word >= MIN_ADDRESS && word % sizeof(word) == 0;
}

struct search {
	const struct memory *memory;
	uint64_t address; /* of the words */
	const uint64_t *words;
	size_t num;
	size_t num_workers, num_tables; /* that were looked at */
};

/* Are most of these queues and rings empty, as they look then? */
static bool are_tables(struct search *s, const struct matching *matching)
{
	struct request_queue *queues = xcalloc(HASH_SIZE, sizeof(*queues));
	struct link *rings = xcalloc(HASH_SIZE, sizeof(*rings));
	size_t num_queues = 0, num_rings = 0;

	s->num_tables++;
	if (!memory_get(s->memory, matching->receives, queues, HASH_SIZE * sizeof(*queues)) &&
	    !memory_get(s->memory, matching->messages, rings, HASH_SIZE * sizeof(*rings))) {
		for (size_t i = 0; i < HASH_SIZE; i++) {
			uint64_t ring = matching->messages + i * sizeof(*rings);

			num_queues +=
				queues[i].queue.last == matching->receives + i * sizeof(*queues);
			num_rings += rings[i].previous == ring && rings[i].next == ring;
		}
	}
	free(queues);
	free(rings);
	return num_queues > HASH_SIZE / 2 && num_rings > HASH_SIZE / 2;
}

static bool is_matching(struct search *s, const struct matching *matching, uint64_t address)
{
	return (matching->wildcard.queue.last == address ||
		(may_be_address(matching->wildcard.queue.last) &&
		 may_be_address(matching->wildcard.queue.first))) &&
	       may_be_address(matching->receives) && may_be_address(matching->messages) &&
	       may_be_address(matching->all.previous) && may_be_address(matching->all.next) &&
	       are_tables(s, matching);
}

/* Is there a worker at words[at]? The library has its context beside it. */
static bool is_worker(struct search *s, size_t at, struct ucx_worker *ret)
{
	uint64_t worker[WORKER_WORDS];
	bool has_context = false;

	s->num_workers++;
	if (memory_get(s->memory, s->words[at], worker, sizeof(worker)))
		return false;
	for (size_t i = at < NEAR ? 0 : at - NEAR; i < s->num && i <= at + NEAR; i++)
		for (size_t j = 0; i != at && may_be_address(s->words[i]) && j < CONTEXT_WORDS; j++)
			has_context |= worker[j] == s->words[i];
	for (size_t i = 0;
	     has_context && i <= WORKER_WORDS - sizeof(struct matching) / sizeof(*worker) &&
	     s->num_tables < MAX_TABLES;
	     i++) {
		uint64_t address = s->words[at] + i * sizeof(*worker);
		struct matching matching;

		memcpy(&matching, &worker[i], sizeof(matching));
		if (!is_matching(s, &matching, address))
			continue;
		*ret = (struct ucx_worker){s->words[at], address,
					   s->address + at * sizeof(*s->words)};
		return true;
	}
	return false;
}

bool ucx_worker_find(const struct memory *memory, uint64_t address, const uint64_t *words,
		     size_t num, struct ucx_worker *ret)
{
	struct search s = {.memory = memory, .address = address, .words = words, .num = num};

	for (size_t i = 0; i < num && s.num_workers < MAX_WORKERS && s.num_tables < MAX_TABLES;
	     i++) {
		/* Most that are addresses are of other variables. */
		bool is_own = words[i] - address < num * sizeof(*words);

		if (may_be_address(words[i]) && !is_own && is_worker(&s, i, ret))
			return true;
	}
	return false;
}

bool ucx_worker_is_current(const struct memory *memory, const struct ucx_worker *worker)
{
	uint64_t address;

	return !memory_get(memory, worker->variable, &address, sizeof(address)) &&
	       address == worker->address;
}

struct reader {
	const struct memory *memory;
	const struct ucx_worker *worker;
	const struct receive_layout *layout; /* NULL: not known yet */
	struct matching matching;
	struct arena *arena;
	struct ucx_tags *ret;
	size_t receives_capacity, messages_capacity;
};

static bool get(const struct reader *r, uint64_t address, void *buffer, size_t size)
{
	return !memory_get(r->memory, address, buffer, size);
}

static bool is_laid_out(const struct reader *r, const struct receive_layout *layout,
			uint64_t element)
{
	uint64_t worker;

	return get(r, element + (uint64_t)(int64_t)layout->worker, &worker, sizeof(worker)) &&
	       worker == r->worker->address;
}

static bool find_layout(struct reader *r, uint64_t element)
{
	for (size_t i = 0; i < sizeof(receive_layouts) / sizeof(receive_layouts[0]) && !r->layout;
	     i++)
		if (is_laid_out(r, &receive_layouts[i], element))
			r->layout = &receive_layouts[i];
	return r->layout && is_laid_out(r, r->layout, element);
}

/* bucket: of receives that leave no bits open; HASH_SIZE: of the others. */
static bool read_queue(struct reader *r, const struct queue_head *queue, uint64_t address,
		       size_t bucket)
{
	struct ucx_tags *ret = r->ret;
	uint64_t at = queue->first;

	if (queue->last == address)
		return true;
	for (;;) {
		struct ucx_tag tag;

		if (ret->num_receives >= MAX_TAGS || !find_layout(r, at) ||
		    !get(r, at + (uint64_t)(int64_t)r->layout->tag, &tag, sizeof(tag)) ||
		    tag.number >= r->matching.next_number ||
		    (bucket < HASH_SIZE && (tag.mask != ALL_BITS || hash_of(tag.tag) != bucket)))
			return false;
		*ARENA_PUSH(r->arena, ret->receives, ret->num_receives, r->receives_capacity) = tag;
		if (at == queue->last)
			return true;
		if (!get(r, at, &at, sizeof(at)))
			return false;
	}
}

static bool read_receives(struct reader *r)
{
	struct request_queue *queues = arena_array(r->arena, HASH_SIZE, sizeof(*queues));

	if (!get(r, r->matching.receives, queues, HASH_SIZE * sizeof(*queues)) ||
	    !read_queue(r, &r->matching.wildcard.queue, r->worker->matching, HASH_SIZE))
		return false;
	for (size_t i = 0; i < HASH_SIZE; i++)
		if (!read_queue(r, &queues[i].queue, r->matching.receives + i * sizeof(*queues), i))
			return false;
	return true;
}

/* The ring of its hash value, whose head is beside the first and the last one there. */
static bool is_in_its_ring(const struct reader *r, const struct message *message)
{
	uint64_t head = r->matching.messages + hash_of(message->tag) * sizeof(struct link);
	uint64_t end = r->matching.messages + HASH_SIZE * sizeof(struct link);
	const uint64_t neighbours[] = {message->hash.previous, message->hash.next};

	for (size_t i = 0; i < sizeof(neighbours) / sizeof(neighbours[0]); i++)
		if (neighbours[i] >= r->matching.messages && neighbours[i] < end &&
		    neighbours[i] != head)
			return false;
	return true;
}

static bool read_messages(struct reader *r)
{
	uint64_t head = r->worker->matching + offsetof(struct matching, all), previous = head;
	uint64_t at = r->matching.all.next;
	struct ucx_tags *ret = r->ret;

	while (at != head) {
		struct message message;

		if (ret->num_messages >= MAX_TAGS ||
		    !get(r, at - offsetof(struct message, all), &message, sizeof(message)) ||
		    message.all.previous != previous || !is_in_its_ring(r, &message))
			return false;
		uint64_t number = ret->num_messages;
		*ARENA_PUSH(r->arena, ret->messages, ret->num_messages, r->messages_capacity) =
			(struct ucx_tag){message.tag, ALL_BITS, number};
		previous = at;
		at = message.all.next;
	}
	return previous == r->matching.all.previous;
}

struct ucx_tags *ucx_tags_read(const struct memory *memory, const struct ucx_worker *worker,
			       struct arena *arena)
{
	for (int i = 0; i < TRIES; i++) {
		struct reader r = {.memory = memory, .worker = worker, .arena = arena};
		struct matching after;

		r.ret = arena_alloc(arena, sizeof(*r.ret));
		if (get(&r, worker->matching, &r.matching, sizeof(r.matching)) &&
		    read_receives(&r) && read_messages(&r) &&
		    get(&r, worker->matching, &after, sizeof(after)) &&
		    !memcmp(&after, &r.matching, sizeof(after))) {
			r.ret->num_posted = r.matching.next_number;
			return r.ret;
		}
	}
	return NULL;
}
