/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graph.h"
#include "analysis/waits/queue_waits.h"
#include "analysis/waits/stack_facts.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/message_queues.h"
#include "model/job/names.h"
#include "model/job/sample.h"
#include "model/sorted.h"
#include "model/xalloc.h"

/* A message that has arrived and that no receive has met. */
struct arrival {
	struct queue_unreceived way;
	int32_t tag;
	const char *comm;
};

struct builder {
	const struct job *job;
	const struct stack_facts *facts;
	struct queue_waits *waits;
	size_t capacity;
	struct arrival *arrivals; /* by source, then destination */
	size_t num_arrivals;
};

/* ---- Facts ---- */

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

/* Of arrivals, too, which begin with it. */
static int compare_ways(const void *a, const void *b)
{
	const struct queue_unreceived *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return (x->destination > y->destination) - (x->destination < y->destination);
}

static void find_arrivals(struct builder *b)
{
	size_t capacity = 0;

	for (size_t r = 0; r < b->waits->num_ranks; r++) {
		const struct message_queues *queues = queues_of(b->facts, r);

		for (size_t i = 0; queues && i < queues->num_unexpected; i++) {
			const struct queued_message *message = &queues->unexpected[i];

			if (!is_rank(b, message->peer))
				continue;
			b->arrivals = xgrow(b->arrivals, b->num_arrivals, &capacity,
					    sizeof(*b->arrivals));
			b->arrivals[b->num_arrivals++] =
				(struct arrival){{message->peer, (int)r},
						 message->tag,
						 queues->comms[message->comm].name};
		}
	}
	if (b->num_arrivals)
		qsort(b->arrivals, b->num_arrivals, sizeof(*b->arrivals), compare_ways);
}

static void keep_unreceived(struct builder *b)
{
	struct queue_waits *w = b->waits;

	w->unreceived = xcalloc(b->num_arrivals, sizeof(*w->unreceived));
	for (size_t i = 0; i < b->num_arrivals; i++)
		if (!is_own(b->arrivals[i].tag))
			w->unreceived[w->num_unreceived++] = b->arrivals[i].way;
}

/* ---- Waits ---- */

static void add_wait(struct builder *b, struct queue_wait wait, const char *comm)
{
	struct queue_waits *w = b->waits;

	if (wait.peer == wait.rank)
		return;
	snprintf(wait.comm, sizeof(wait.comm), "%s", comm);
	w->waits = xgrow(w->waits, w->num_waits, &b->capacity, sizeof(*w->waits));
	w->waits[w->num_waits++] = wait;
}

/* A receive from any: of those with whom there were messages on the communicator, as libraries
 * do not say who its members are, or of its members if they count no messages. If that is one,
 * it is from that one. */
static void add_any(struct builder *b, const struct message_queues *queues, struct queue_wait wait,
		    uint32_t comm)
{
	size_t num = 0;

	for (size_t i = 0; i < queues->num_pairs; i++)
		num += queues->pairs[i].comm == comm && queues->pairs[i].peer != wait.rank;
	wait.is_any = num > 1;
	b->waits->is_open[wait.rank] |= num == 0;
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
			b->waits->is_open[rank] = true;
	}
}

static int compare_source(const void *key, const void *element)
{
	int source = *(const int *)key;
	const struct queue_unreceived *way = element; /* or an arrival, which begins with it */

	return (source > way->source) - (source < way->source);
}

/* Messages of this rank that have arrived elsewhere and that no receive has met. */
static void add_sends(struct builder *b, int rank, bool are_own)
{
	size_t i = sorted_first(&rank, b->arrivals, b->num_arrivals, sizeof(*b->arrivals),
				compare_source);

	for (; i < b->num_arrivals && b->arrivals[i].way.source == rank; i++) {
		const struct arrival *arrival = &b->arrivals[i];
		struct queue_wait wait = {
			.kind = are_own ? QUEUE_WAIT_COLLECTIVE : QUEUE_WAIT_RECEIVE,
			.rank = rank,
			.peer = arrival->way.destination,
			.tag = arrival->tag,
		};

		if (is_own(arrival->tag) == are_own)
			add_wait(b, wait, arrival->comm);
	}
}

/* Of the functions of MPI that the rank is in the innermost that tells what it waits for: what
 * is written to a file is sent to other ranks first, and tools may wait inside a function that
 * they have taken the place of. */
static enum names_mpi_kind kind_of(const struct builder *b, const struct stack_fact *fact)
{
	const struct job *job = b->job;
	enum names_mpi_kind kind = NAMES_MPI_OTHER;

	for (uint32_t at = fact->latest->path; at != CALLPATH_NONE && kind == NAMES_MPI_OTHER;
	     at = at == fact->function ? CALLPATH_NONE : callpaths_get(job->callpaths, at)->parent)
		kind = names_mpi_kind(job->names, at);
	return kind;
}

/* A send is waited for only where no receive is: most messages that no receive has met are
 * buffered, and their sender has long gone on. */
static void add_rank(struct builder *b, int rank)
{
	const struct stack_fact *fact = stack_facts_get(b->facts, rank);
	const struct message_queues *queues = queues_of(b->facts, (size_t)rank);
	size_t before = b->waits->num_waits;

	if (!queues || fact->function == CALLPATH_NONE)
		return;
	switch (kind_of(b, fact)) {
	case NAMES_MPI_RECEIVE:
		add_receives(b, rank, queues, false);
		break;
	case NAMES_MPI_SEND:
		add_sends(b, rank, false);
		break;
	case NAMES_MPI_SENDRECV:
		add_receives(b, rank, queues, false);
		if (b->waits->num_waits == before)
			add_sends(b, rank, false);
		break;
	case NAMES_MPI_WAIT:
		add_receives(b, rank, queues, false);
		add_receives(b, rank, queues, true);
		if (b->waits->num_waits == before)
			add_sends(b, rank, false);
		break;
	case NAMES_MPI_POLL:
		add_receives(b, rank, queues, false);
		break;
	case NAMES_MPI_OTHER:
		add_receives(b, rank, queues, true);
		if (b->waits->num_waits == before)
			add_sends(b, rank, true);
		break;
	}
}

bool queue_waits_are_known(const struct job *job)
{
	for (size_t i = 0; i < job->samples->num_samples; i++)
		if (job->samples->samples[i].queues)
			return true;
	return false;
}

struct queue_waits *queue_waits_create(const struct job *job, const struct stack_facts *facts)
{
	struct queue_waits *waits = xcalloc(1, sizeof(*waits));
	struct builder b = {.job = job, .facts = facts, .waits = waits};

	waits->num_ranks = facts->num_ranks;
	waits->first = xcalloc(waits->num_ranks + 1, sizeof(*waits->first));
	waits->is_open = xcalloc(waits->num_ranks + 1, sizeof(*waits->is_open));
	find_arrivals(&b);
	for (size_t r = 0; r < waits->num_ranks; r++) {
		waits->first[r] = waits->num_waits;
		add_rank(&b, (int)r);
	}
	waits->first[waits->num_ranks] = waits->num_waits;
	keep_unreceived(&b);
	free(b.arrivals);
	return waits;
}

void queue_waits_destroy(struct queue_waits *waits)
{
	if (!waits)
		return;
	free(waits->waits);
	free(waits->first);
	free(waits->is_open);
	free(waits->unreceived);
	free(waits);
}

/* ---- Asking ---- */

size_t queue_waits_of(const struct queue_waits *waits, int rank, const struct queue_wait **ret)
{
	*ret = NULL;
	if (rank < 0 || (size_t)rank >= waits->num_ranks)
		return 0;
	*ret = waits->waits + waits->first[rank];
	return waits->first[rank + 1] - waits->first[rank];
}

size_t queue_waits_unreceived_of(const struct queue_waits *waits, int source,
				 const struct queue_unreceived **ret)
{
	size_t first = sorted_first(&source, waits->unreceived, waits->num_unreceived,
				    sizeof(*waits->unreceived), compare_source);
	size_t end = first;

	*ret = waits->unreceived + first;
	while (end < waits->num_unreceived && waits->unreceived[end].source == source)
		end++;
	return end - first;
}

bool queue_waits_has_unreceived(const struct queue_waits *waits, int source, int destination)
{
	const struct queue_unreceived key = {source, destination};

	return waits->num_unreceived &&
	       bsearch(&key, waits->unreceived, waits->num_unreceived, sizeof(key), compare_ways);
}

struct graph *queue_waits_graph(struct arena *arena, const struct queue_waits *waits)
{
	struct graph *graph = graph_create(arena, waits->num_ranks);

	for (size_t i = 0; i < waits->num_waits; i++)
		graph_add_edge(graph, (uint32_t)waits->waits[i].rank,
			       (uint32_t)waits->waits[i].peer);
	return graph;
}
