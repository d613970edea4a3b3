/* SPDX-License-Identifier: BSD-3-Clause
 * Needs that were read in the MPI libraries' queues (model/job/message_queues.h): those of a rank
 * without a recorder, and of one whose counts do not tell whom it waits for. A collective that all
 * have begun is such a case, as is a message whose sender has no recorder.
 *
 * What is read is all that the library waits for; which of it holds the call up is not known. So
 * one of these needs is enough to let an actor go on. */
#include "analysis/thresholds.h"
#include "analysis/waits/waitfor_private.h"
#include "model/job/callpath.h"
#include "model/job/message_queues.h"
#include "model/job/names.h"
#include "model/job/sample.h"

/* NULL: nothing is known. */
static const struct message_queues *queues_of(const struct stack_fact *fact)
{
	return fact->latest && fact->latest->path != CALLPATH_NONE ? fact->latest->queues : NULL;
}

static bool is_own(int32_t tag)
{
	return tag < 0 && tag != MESSAGE_ANY_TAG && tag != MESSAGE_TAG_NOT_KNOWN;
}

static bool is_rank(const struct waitfor *w, int peer)
{
	return peer >= 0 && (size_t)peer < w->private->num_ranks;
}

/* ---- Messages that no receive has met ---- */

SORTED_BY(compare_arrivals, struct waitfor_arrival, is_own, source, destination)

void waitfor_find_arrivals(struct waitfor *w)
{
	const struct stack_facts *stacks = w->evidence->stacks;
	size_t capacity = 0;

	for (size_t r = 0; r < stacks->num_ranks; r++) {
		const struct message_queues *queues = queues_of(&stacks->ranks[r]);

		for (size_t i = 0; queues && i < queues->num_unexpected; i++) {
			const struct queued_message *message = &queues->unexpected[i];

			if (!is_rank(w, message->peer))
				continue;
			*ARENA_PUSH(w->private->arena, w->arrivals, w->num_arrivals, capacity) =
				(struct waitfor_arrival){
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

SORTED_BY(compare_sources, struct waitfor_arrival, is_own, source)

size_t waitfor_arrivals_of(const struct waitfor *w, int source, bool are_own,
			   const struct waitfor_arrival **ret)
{
	const struct waitfor_arrival key = {.is_own = are_own, .source = source};
	size_t first =
		sorted_first(&key, w->arrivals, w->num_arrivals, sizeof(key), compare_sources);
	size_t end = first;

	*ret = w->arrivals + first;
	while (end < w->num_arrivals && compare_sources(&key, &w->arrivals[end]) == 0)
		end++;
	return end - first;
}

/* ---- Receives that no message has met ---- */

size_t waitfor_count_unmet(const struct waitfor *w, uint32_t l, int peer, int32_t tag)
{
	const struct actor *actor = &w->evidence->actors[l];
	const struct message_queues *queues = actor->stack ? queues_of(actor->stack) : NULL;
	size_t num = 0;

	for (size_t i = 0; queues && i < queues->num_receives; i++)
		num += queues->receives[i].peer == peer && queues->receives[i].tag == tag;
	return num;
}

/* ---- Is what is waited for on its way? ---- */

/* Messages that `queues` counts with the peer, of all communicators; false: they are not
 * counted. */
static bool count_pair(const struct message_queues *queues, int peer, uint16_t *sent,
		       uint16_t *arrived)
{
	bool is_counted = false;

	*sent = *arrived = 0;
	for (size_t i = 0; queues && i < queues->num_pairs; i++) {
		const struct message_pair *pair = &queues->pairs[i];

		is_counted |= pair->sent || pair->arrived;
		if (pair->peer != peer)
			continue;
		*sent = (uint16_t)(*sent + pair->sent);
		*arrived = (uint16_t)(*arrived + pair->arrived);
	}
	return is_counted;
}

static uint64_t stay_of(const struct waitfor *w, int rank)
{
	uint32_t l = waitfor_first_actor(w, rank);

	return l == WAITFOR_NONE ? 0 : w->evidence->actors[l].stay_ns;
}

enum waitfor_way waitfor_way_between(const struct waitfor *w, int from, int to)
{
	const struct stack_facts *stacks = w->evidence->stacks;
	uint16_t sent, arrived, other;

	if (!w->private->is_static[from] || !w->private->is_static[to] ||
	    !count_pair(queues_of(stack_facts_get(stacks, from)), to, &sent, &other) ||
	    !count_pair(queues_of(stack_facts_get(stacks, to)), from, &other, &arrived))
		return WAITFOR_WAY_NOT_KNOWN;
	return sent == arrived ? WAITFOR_WAY_EMPTY : WAITFOR_ON_ITS_WAY;
}

/* Has all that `peer` has sent to `rank` arrived there, for certain? */
static bool has_all_arrived(const struct waitfor *w, int rank, int peer)
{
	enum waitfor_way way = waitfor_way_between(w, peer, rank);

	if (!w->private->is_static[rank] || !w->private->is_static[peer])
		return false;
	if (way != WAITFOR_WAY_NOT_KNOWN)
		return way == WAITFOR_WAY_EMPTY;
	return stay_of(w, rank) >= thresholds.arrives_ns &&
	       stay_of(w, peer) >= thresholds.arrives_ns;
}

/* ---- What is waited for ---- */

/* Needs of one actor. */
struct reader {
	struct waitfor *w;
	uint32_t l;
	const struct message_queues *queues;
	size_t first;     /* of them in w->needs */
	bool has_unknown; /* it may wait for others, too */
};

static int32_t tag_of(int32_t tag)
{
	if (tag == MESSAGE_ANY_TAG)
		return SEG_TAG_ANY;
	return tag == MESSAGE_TAG_NOT_KNOWN ? WAITFOR_NO_TAG : tag;
}

static void add(struct reader *r, enum waitfor_kind kind, int peer, int32_t tag, const char *comm,
		bool is_any)
{
	struct waitfor_private *p = r->w->private;
	const struct job_lane *lane = r->w->evidence->actors[r->l].lane;
	int own = r->w->evidence->actors[r->l].rank;

	/* In a collective nobody waits for itself. */
	if (peer == own && kind == WAITFOR_PART)
		return;
	if (!is_rank(r->w, peer)) {
		r->has_unknown = true;
		return;
	}
	*ARENA_PUSH(p->arena, r->w->needs, r->w->num_needs, p->needs_capacity) =
		(struct waitfor_need){
			.actor = r->l,
			.kind = (uint8_t)kind,
			.is_read = true,
			/* Another thread of the process may do what is not counted. */
			.is_certain = peer != own && has_all_arrived(r->w, own, peer),
			.peer = is_any ? -1 : peer,
			.tag = tag_of(tag),
			.comm = SEG_NO_COMM,
			.comm_name = comm,
			.node = p->first_rank + (uint32_t)peer,
			.site = lane ? SEG_STATE_SITE(lane->state) : 0,
			.request = WAITFOR_NONE,
			.number = WAITFOR_NOT_KNOWN,
			.given = WAITFOR_NOT_KNOWN,
		};
}

/* Are all ranks of the job members of the communicator, and nobody else? */
static bool has_whole_job(const struct reader *r, uint32_t comm, size_t num_known)
{
	size_t size = r->queues->comms[comm].size;

	for (size_t i = 0; i < r->queues->num_pairs; i++)
		if (!is_rank(r->w, r->queues->pairs[i].peer))
			return false;
	return num_known > 0 && size == r->w->private->num_ranks &&
	       size <= num_known + 1 + thresholds.silent_members;
}

/* A receive from any: from those with whom there were messages on the communicator (libraries do
 * not say who its members are), or from its members if they count no messages. */
static void add_any(struct reader *r, enum waitfor_kind kind, const struct queued_message *receive)
{
	const struct message_queues *queues = r->queues;
	const struct queued_comm *comm = &queues->comms[receive->comm];
	int own = r->w->evidence->actors[r->l].rank;
	size_t num = 0, first = r->w->num_needs;

	for (size_t i = 0; i < queues->num_pairs; i++)
		num += queues->pairs[i].comm == receive->comm && queues->pairs[i].peer != own;
	if (num + 1 < comm->size && has_whole_job(r, receive->comm, num)) {
		for (size_t rank = 0; rank < r->w->private->num_ranks; rank++)
			if ((int)rank != own)
				add(r, kind, (int)rank, receive->tag, comm->name, true);
		return;
	}
	r->has_unknown |= num == 0;
	for (size_t i = 0; i < queues->num_pairs; i++)
		if (queues->pairs[i].comm == receive->comm && queues->pairs[i].peer != own &&
		    is_rank(r->w, queues->pairs[i].peer))
			add(r, kind, queues->pairs[i].peer, receive->tag, comm->name, num > 1);
	/* Another member may send its first message. */
	for (size_t i = first; num + 1 < comm->size && i < r->w->num_needs; i++)
		r->w->needs[i].is_certain = false;
}

/* Receives that nothing has met, the library's own or the program's. */
static void add_receives(struct reader *r, bool are_own)
{
	enum waitfor_kind kind = are_own ? WAITFOR_PART : WAITFOR_MESSAGE;

	for (size_t i = 0; i < r->queues->num_receives; i++) {
		const struct queued_message *receive = &r->queues->receives[i];

		if (is_own(receive->tag) != are_own)
			continue;
		if (receive->peer == MESSAGE_ANY_PEER)
			add_any(r, kind, receive);
		else
			add(r, kind, receive->peer, receive->tag,
			    r->queues->comms[receive->comm].name, false);
	}
}

/* Messages of this rank that have arrived elsewhere and that no receive has met. */
static void add_sends(struct reader *r, bool are_own)
{
	const struct waitfor_arrival *arrivals;
	size_t num =
		waitfor_arrivals_of(r->w, r->w->evidence->actors[r->l].rank, are_own, &arrivals);

	for (size_t i = 0; i < num; i++)
		add(r, are_own ? WAITFOR_PART : WAITFOR_RECEIVE, arrivals[i].destination,
		    arrivals[i].tag, arrivals[i].comm, false);
}

/* Of the innermost function of MPI that tells what is waited for: what is written to a file is sent
 * to other ranks first, and tools may wait inside a function that they have taken the place of. */
static enum names_mpi_kind kind_of(const struct job *job, const struct stack_fact *fact)
{
	enum names_mpi_kind kind = NAMES_MPI_OTHER;

	for (uint32_t at = stack_fact_place(fact)->path;
	     at != CALLPATH_NONE && kind == NAMES_MPI_OTHER;
	     at = at == fact->function ? CALLPATH_NONE : callpaths_get(job->callpaths, at)->parent)
		kind = names_mpi_kind(job->names, at);
	return kind;
}

static void read_queues(struct reader *r, enum names_mpi_kind kind)
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
		[NAMES_MPI_LOOK] = {.own_receives = true, .own_sends = true},
		[NAMES_MPI_ONE_WAY] = {.own_receives = true, .own_sends = true},
		[NAMES_MPI_OTHER] = {.own_receives = true, .own_sends = true},
	};

	if (of_kind[kind].receives)
		add_receives(r, false);
	if (of_kind[kind].own_receives)
		add_receives(r, true);
	/* A send is waited for only where no receive is: most messages that no receive has met
	 * are buffered, and their sender has long gone on. */
	if (r->w->num_needs > r->first)
		return;
	if (of_kind[kind].sends)
		add_sends(r, false);
	if (of_kind[kind].own_sends)
		add_sends(r, true);
}

/* ---- Beside what was counted ---- */

/* Does what was counted tell what it waits for? */
static bool is_counted(const struct waitfor *w, uint32_t l)
{
	const struct waitfor_actor *actor = &w->actors[l];
	bool has_certain = false, has_weak = false;

	for (const struct waitfor_need *need = NULL; (need = waitfor_next_need(w, l, need));) {
		has_certain |= need->is_certain;
		has_weak |= need->is_weak;
	}
	return (has_certain && !actor->is_or) ||
	       (actor->gap == WAITFOR_COMPLETE && !has_weak && actor->num_needs > 0);
}

/* Is what was counted of this what was read? */
static bool is_same_need(const struct waitfor *w, const struct waitfor_need *counted,
			 const struct waitfor_need *read)
{
	if (read->kind == WAITFOR_PART)
		return waitfor_collective_of(w, counted->node) != WAITFOR_NONE;
	return counted->tag == read->tag && (counted->peer < 0 || counted->node == read->node);
}

/* What was counted of it says more of what was read: the communicator, the number, the call. */
static void adopt(const struct waitfor *w, const struct waitfor_need *counted, size_t num,
		  struct waitfor_need *read)
{
	for (size_t i = 0; i < num; i++) {
		if (!is_same_need(w, &counted[i], read))
			continue;
		read->comm = counted[i].comm;
		read->comm_name = NULL;
		read->site = counted[i].site;
		read->request = counted[i].request;
		read->bytes = counted[i].bytes;
		read->number = counted[i].number;
		read->is_sent = read->kind == WAITFOR_MESSAGE && counted[i].is_sent;
		if (read->is_sent)
			read->given = counted[i].given;
		return;
	}
}

void waitfor_read_needs(struct waitfor *w, uint32_t l)
{
	struct waitfor_actor *result = &w->actors[l];
	const struct actor *actor = &w->evidence->actors[l];
	const struct stack_fact *fact = actor->stack;
	struct reader r = {.w = w, .l = l, .queues = queues_of(fact), .first = w->num_needs};
	size_t num_read;

	if (!actor->lane)
		result->gap = WAITFOR_NOT_TOLD;
	/* In MPI_Finalize it waits for others to come there, which is how programs end. */
	if (!r.queues || !actor->is_main || actor_is_finalizing(actor, w->job) ||
	    fact->function == CALLPATH_NONE ||
	    (actor->lane && (actor->activity != ACTIVITY_IN_MPI || is_counted(w, l))))
		return;
	read_queues(&r, kind_of(w->job, fact));
	num_read = w->num_needs - r.first;
	if (num_read == 0)
		return;
	for (size_t i = r.first; i < w->num_needs; i++)
		adopt(w, &w->needs[result->first_need], result->num_needs, &w->needs[i]);
	memmove(&w->needs[result->first_need], &w->needs[r.first], num_read * sizeof(*w->needs));
	w->num_needs = result->first_need + num_read;
	result->num_needs = (uint32_t)num_read;
	result->gap = r.has_unknown ? WAITFOR_UNSETTLED : WAITFOR_COMPLETE;
	result->is_or = true;
}
