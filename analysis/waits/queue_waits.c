/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "analysis/waits/queue_waits.h"
#include "analysis/waits/stack_facts.h"
#include "analysis/waits/wait_graph.h"
#include "model/arena.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/message_queues.h"
#include "model/job/names.h"
#include "model/job/sample.h"
#include "model/sorted.h"

struct builder {
	struct arena *arena;
	const struct job *job;
	const struct stack_facts *facts;
	struct queue_waits *waits;
	size_t capacity;
	bool is_open; /* the rank that is looked at waits for somebody who is not known, too */
};

/* NULL: nothing is known. */
static const struct message_queues *queues_of(const struct stack_facts *facts, size_t rank)
{
	const struct sample *latest = facts->ranks[rank].latest;

	return latest && latest->path != CALLPATH_NONE ? latest->queues : NULL;
}

static bool is_own(int32_t tag)
{
	return tag < 0 && tag != MESSAGE_ANY_TAG && tag != MESSAGE_TAG_NOT_KNOWN;
}

/* The message goes to, or comes from, one of the job's ranks of which there are facts. */
static bool is_rank(const struct builder *b, int peer)
{
	return peer >= 0 && (size_t)peer < b->waits->num_ranks;
}

static int compare_arrivals(const void *a, const void *b)
{
	const struct queue_arrival *x = a, *y = b;

	return SORTED_ORDER(x->is_own, y->is_own) ?: SORTED_ORDER(x->source, y->source)
	       ?: SORTED_ORDER(x->destination, y->destination);
}

static void find_arrivals(struct builder *b)
{
	struct queue_waits *w = b->waits;
	size_t capacity = 0;

	for (size_t r = 0; r < w->num_ranks; r++) {
		const struct message_queues *queues = queues_of(b->facts, r);

		for (size_t i = 0; queues && i < queues->num_unexpected; i++) {
			const struct queued_message *message = &queues->unexpected[i];

			if (!is_rank(b, message->peer))
				continue;
			*ARENA_PUSH(b->arena, w->arrivals, w->num_arrivals, capacity) =
				(struct queue_arrival){
					.is_own = is_own(message->tag),
					.source = message->peer,
					.destination = (int)r,
					.tag = message->tag,
					.comm = queues->comms[message->comm].name,
				};
		}
	}
	sorted_make(w->arrivals, w->num_arrivals, sizeof(*w->arrivals), compare_arrivals);
}

static void add_wait(struct builder *b, struct queue_wait wait, const char *comm)
{
	struct queue_waits *w = b->waits;

	if (wait.peer == wait.rank)
		return;
	snprintf(wait.comm, sizeof(wait.comm), "%s", comm);
	*ARENA_PUSH(b->arena, w->waits, w->num_waits, b->capacity) = wait;
	wait_graph_add_edge(w->graph, (uint32_t)wait.peer);
}

/* A receive from any: from those with whom there were messages on the communicator (libraries do
 * not say who its members are), or from its members if they count no messages. */
static void add_any(struct builder *b, const struct message_queues *queues, struct queue_wait wait,
		    uint32_t comm)
{
	size_t num = 0;

	for (size_t i = 0; i < queues->num_pairs; i++)
		num += queues->pairs[i].comm == comm && queues->pairs[i].peer != wait.rank;
	wait.is_any = num > 1;
	b->is_open |= num == 0;
	for (size_t i = 0; i < queues->num_pairs; i++) {
		wait.peer = queues->pairs[i].peer;
		if (queues->pairs[i].comm == comm && is_rank(b, wait.peer))
			add_wait(b, wait, queues->comms[comm].name);
	}
}

/* Receives that nothing has met, the library's own or the program's. */
static void add_receives(struct builder *b, int rank, const struct message_queues *queues,
			 bool are_own)
{
	for (size_t i = 0; i < queues->num_receives; i++) {
		const struct queued_message *receive = &queues->receives[i];
		struct queue_wait wait = {
			.kind = are_own ? QUEUE_WAIT_COLLECTIVE : QUEUE_WAIT_MESSAGE,
			.rank = rank,
			.peer = receive->peer,
			.tag = receive->tag,
		};

		if (is_own(receive->tag) != are_own)
			continue;
		if (receive->peer == MESSAGE_ANY_PEER)
			add_any(b, queues, wait, receive->comm);
		else if (is_rank(b, receive->peer))
			add_wait(b, wait, queues->comms[receive->comm].name);
		else
			b->is_open = true;
	}
}

/* Messages of this rank that have arrived elsewhere and that no receive has met. */
static void add_sends(struct builder *b, int rank, bool are_own)
{
	const struct queue_arrival *arrivals;
	size_t num = queue_waits_unreceived_of(b->waits, rank, are_own, &arrivals);

	for (size_t i = 0; i < num; i++)
		add_wait(b,
			 (struct queue_wait){
				 .kind = are_own ? QUEUE_WAIT_COLLECTIVE : QUEUE_WAIT_RECEIVE,
				 .rank = rank,
				 .peer = arrivals[i].destination,
				 .tag = arrivals[i].tag,
			 },
			 arrivals[i].comm);
}

/* Of the innermost function of MPI that tells what is waited for: what is written to a file is sent
 * to other ranks first, and tools may wait inside a function that they have taken the place of. */
static enum names_mpi_kind kind_of(const struct builder *b, const struct stack_fact *fact)
{
	const struct job *job = b->job;
	enum names_mpi_kind kind = NAMES_MPI_OTHER;

	for (uint32_t at = fact->latest->path; at != CALLPATH_NONE && kind == NAMES_MPI_OTHER;
	     at = at == fact->function ? CALLPATH_NONE : callpaths_get(job->callpaths, at)->parent)
		kind = names_mpi_kind(job->names, at);
	return kind;
}

static void add_rank(struct builder *b, int rank)
{
	/* What is waited for: receives and sends, the program's and the library's own. */
	static const struct {
		bool receives, own_receives, sends, own_sends;
	} of_kind[] = {
		[NAMES_MPI_RECEIVE] = {.receives = true},
		[NAMES_MPI_SEND] = {.sends = true},
		[NAMES_MPI_SENDRECV] = {.receives = true, .sends = true},
		[NAMES_MPI_WAIT] = {.receives = true, .own_receives = true, .sends = true},
		[NAMES_MPI_POLL] = {.receives = true},
		[NAMES_MPI_OTHER] = {.own_receives = true, .own_sends = true},
	};
	const struct stack_fact *fact = stack_facts_get(b->facts, rank);
	const struct message_queues *queues = queues_of(b->facts, (size_t)rank);
	size_t before = b->waits->num_waits;
	enum names_mpi_kind kind;

	if (!queues || fact->function == CALLPATH_NONE)
		return;
	kind = kind_of(b, fact);
	if (of_kind[kind].receives)
		add_receives(b, rank, queues, false);
	if (of_kind[kind].own_receives)
		add_receives(b, rank, queues, true);
	/* A send is waited for only where no receive is: most messages that no receive has met
	 * are buffered, and their sender has long gone on. */
	if (b->waits->num_waits > before)
		return;
	if (of_kind[kind].sends)
		add_sends(b, rank, false);
	if (of_kind[kind].own_sends)
		add_sends(b, rank, true);
}

bool queue_waits_are_known(const struct job *job)
{
	for (size_t i = 0; i < job->samples->num_samples; i++)
		if (job->samples->samples[i].queues)
			return true;
	return false;
}

struct queue_waits *queue_waits_create(const struct job *job, const struct stack_facts *facts,
				       struct arena *arena)
{
	struct queue_waits *waits = arena_alloc(arena, sizeof(*waits));
	struct builder b = {.arena = arena, .job = job, .facts = facts, .waits = waits};

	waits->num_ranks = facts->num_ranks;
	waits->graph = wait_graph_create(arena, waits->num_ranks);
	find_arrivals(&b);
	for (size_t r = 0; r < waits->num_ranks; r++) {
		size_t before = waits->num_waits;

		b.is_open = false;
		add_rank(&b, (int)r);
		wait_graph_end_node(waits->graph,
				    b.is_open || waits->num_waits == before ? WAIT_FREE : WAIT_ANY);
	}
	return waits;
}

const struct queue_wait *queue_waits_next(const struct queue_waits *waits, int rank,
					  const struct queue_wait *wait)
{
	size_t next;

	if (rank < 0 || (size_t)rank >= waits->num_ranks)
		return NULL;
	next = wait ? (size_t)(wait - waits->waits) + 1 : waits->graph->first[rank];
	return next < waits->graph->first[rank + 1] ? &waits->waits[next] : NULL;
}

static int compare_sources(const void *key, const void *element)
{
	const struct queue_arrival *wanted = key, *arrival = element;

	return SORTED_ORDER(wanted->is_own, arrival->is_own)
		       ?: SORTED_ORDER(wanted->source, arrival->source);
}

size_t queue_waits_unreceived_of(const struct queue_waits *waits, int source, bool are_own,
				 const struct queue_arrival **ret)
{
	const struct queue_arrival key = {.is_own = are_own, .source = source};
	size_t first = sorted_first(&key, waits->arrivals, waits->num_arrivals, sizeof(key),
				    compare_sources);
	size_t end = first;

	*ret = waits->arrivals + first;
	while (end < waits->num_arrivals && compare_sources(&key, &waits->arrivals[end]) == 0)
		end++;
	return end - first;
}

bool queue_waits_has_unreceived(const struct queue_waits *waits, int source, int destination)
{
	const struct queue_arrival key = {.source = source, .destination = destination};

	return waits->num_arrivals &&
	       bsearch(&key, waits->arrivals, waits->num_arrivals, sizeof(key), compare_arrivals);
}
