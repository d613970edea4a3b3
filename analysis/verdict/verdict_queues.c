/* SPDX-License-Identifier: BSD-3-Clause
 * The verdict by stacks, where MPI libraries tell which messages are missing. All ranks are
 * inside MPI, and nobody moves. Each waits for others, so the ways end at ranks that wait for
 * each other: the strongly connected components without a way out. In such a component, in this
 * order:
 *
 *	skipped  a rank waits for messages of ranks in a collective, and has sent them, or others in that
 *		 collective, messages that they have not received: they have not come to where it is, so it
 *		 has left something out
 *	lost	 a rank waits for a message of one that is in a collective, or further by messages that it
 *		 has sent since or by the order of the calls: that one has left it out
 *	apart	 who is awaited in a collective is in another one, and further by the order of the calls,
 *		 or all ranks are in one but for these
 *	cycle	 ranks wait for each other's messages, and nothing tells who went wrong
 *	open	 the same, of so many that nobody is named: that they wait for each other is told
 *
 * It is no more than likely: the libraries tell what is missing, and not who should have sent
 * it. */
#include <stdlib.h>
#include <string.h>

#include "analysis/graph.h"
#include "analysis/stacks/temporal.h"
#include "analysis/verdict/verdict_private.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

/* More than this share of the ranks, or this many, in a circle: nobody is named. Circles are
 * looked for from that many ranks, each at the cost of a walk over all waits of those that wait
 * for each other. */
enum { MAX_CYCLE_SHARE = 4, MIN_CYCLE = 2, MAX_CYCLE_STARTS = 256, MAX_APART = 3 };

/* What is needed to look for circles: all are [num_ranks]. */
struct circle {
	const struct queue_wait **before, **way, **shortest;
	int *queue;
};

struct chooser {
	struct verdict *verdict;
	const struct temporal_result *order; /* may be NULL */
	size_t *group_of;                    /* [num_ranks] in it; SIZE_MAX: none */
	struct stack_facts *facts;
	struct queue_waits *waits;
	uint32_t *component_of; /* [num_ranks] */
	/* [num_ranks] the ranks of the first component, then of the next, ... */
	int *by_component;
	uint32_t component; /* that is looked at */
	const int *members; /* [num_members] its ranks */
	size_t num_members;
	struct rankset *apart; /* the few that are not in the call that most are in; NULL: not so */
	struct circle circle;
	struct rankset *waiting; /* all */
	struct rankset *culprits;
	struct queue_cause *cause; /* NULL: nothing found yet */
};

static bool is_member(const struct chooser *c, int rank)
{
	return c->component_of[rank] == c->component;
}

/* Does it wait for the library's own messages, and for no others? */
static bool is_in_collective(const struct chooser *c, int rank)
{
	const struct queue_wait *waits;
	size_t num = queue_waits_of(c->waits, rank, &waits);

	for (size_t i = 0; i < num; i++)
		if (waits[i].kind != QUEUE_WAIT_COLLECTIVE)
			return false;
	return num > 0;
}

static bool waits_for_receive(const struct chooser *c, int rank, int other)
{
	const struct queue_wait *waits;
	size_t num = queue_waits_of(c->waits, rank, &waits);

	for (size_t i = 0; i < num; i++)
		if (waits[i].kind == QUEUE_WAIT_RECEIVE && waits[i].peer == other)
			return true;
	return false;
}

/* Is `rank` further than `other`? It is if it has sent this one what it has not come to receive,
 * or by the order of the calls. */
static bool is_further(const struct chooser *c, int rank, int other)
{
	size_t a, b;

	if (queue_waits_has_unreceived(c->waits, rank, other) && !waits_for_receive(c, rank, other))
		return true;
	if (!c->order)
		return false;
	a = c->group_of[rank];
	b = c->group_of[other];
	return a != SIZE_MAX && b != SIZE_MAX && a != b &&
	       temporal_order_of(c->order, b, a, NULL) == TEMPORAL_BEFORE;
}

static void find_groups(struct chooser *c)
{
	size_t num = c->waits->num_ranks;

	c->group_of = xcalloc(num, sizeof(*c->group_of));
	for (size_t i = 0; i < num; i++)
		c->group_of[i] = SIZE_MAX;
	for (size_t g = 0; c->order && g < c->order->num_groups; g++) {
		const struct rankset *ranks = c->order->groups[g].ranks;

		for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
			if ((size_t)r < num)
				c->group_of[r] = g;
	}
}

/* ---- What is told ---- */

static struct queue_cause *tell(struct chooser *c, enum queue_cause_kind kind)
{
	struct queue_cause *cause = xcalloc(1, sizeof(*cause));

	cause->kind = kind;
	cause->ranks = rankset_create();
	for (size_t i = 0; i < c->num_members; i++)
		rankset_add(cause->ranks, c->members[i]);
	c->cause = cause;
	return cause;
}

static void add_evidence(struct queue_cause *cause, const struct queue_wait *wait)
{
	cause->waits = xreallocarray(cause->waits, cause->num_waits + 1, sizeof(*cause->waits));
	cause->waits[cause->num_waits++] = *wait;
}

void verdict_drop_queue_cause(struct verdict *verdict)
{
	if (!verdict->queue_cause)
		return;
	rankset_destroy(verdict->queue_cause->ranks);
	free(verdict->queue_cause->waits);
	free(verdict->queue_cause);
	verdict->queue_cause = NULL;
}

/* ---- A message between two of them ---- */

static bool is_between_members(const struct chooser *c, const struct queue_wait *wait)
{
	return !wait->is_any && is_member(c, wait->rank) && is_member(c, wait->peer);
}

static bool is_message(const struct chooser *c, const struct queue_wait *wait)
{
	return wait->kind == QUEUE_WAIT_MESSAGE && is_between_members(c, wait);
}

/* Are both in a collective that is called at the same place, on communicators of one name? */
static bool are_in_same(const struct chooser *c, int a, int b)
{
	const struct queue_wait *of_a, *of_b;

	return is_in_collective(c, a) && is_in_collective(c, b) &&
	       c->facts->ranks[a].call == c->facts->ranks[b].call &&
	       queue_waits_of(c->waits, a, &of_a) && queue_waits_of(c->waits, b, &of_b) &&
	       !strcmp(of_a->comm, of_b->comm);
}

/* Has the rank sent messages to `other`, or to some in the same collective, that they have not
 * come to receive? */
static bool has_sent_ahead(const struct chooser *c, int rank, int other)
{
	const struct queue_unreceived *messages;
	size_t num = queue_waits_unreceived_of(c->waits, rank, &messages);

	for (size_t i = 0; i < num; i++) {
		int destination = messages[i].destination;

		if (destination == other || are_in_same(c, destination, other))
			return true;
	}
	return false;
}

/* Whoever waits for a message, or that one is received, has come further than the other end,
 * which has not come to receive what it was sent. */
static bool waits_ahead(const struct chooser *c, const struct queue_wait *wait)
{
	return is_between_members(c, wait) && wait->kind != QUEUE_WAIT_COLLECTIVE &&
	       is_in_collective(c, wait->peer) && has_sent_ahead(c, wait->rank, wait->peer);
}

/* Whoever is to take part in the collective is in a later call. */
static bool is_past_collective(const struct chooser *c, const struct queue_wait *wait)
{
	return is_between_members(c, wait) && wait->kind == QUEUE_WAIT_COLLECTIVE &&
	       c->facts->ranks[wait->rank].call != c->facts->ranks[wait->peer].call &&
	       is_further(c, wait->peer, wait->rank);
}

/* Whoever is to send the message has gone past that. */
static bool is_left_out(const struct chooser *c, const struct queue_wait *wait)
{
	return is_message(c, wait) &&
	       !queue_waits_has_unreceived(c->waits, wait->rank, wait->peer) &&
	       (is_in_collective(c, wait->peer) || is_further(c, wait->peer, wait->rank));
}

typedef bool wait_test(const struct chooser *c, const struct queue_wait *wait);

/* The members that wait so, or that are waited for so; *first_ret: the first wait. The caller
 * frees. */
static struct rankset *find_ranks(const struct chooser *c, wait_test *test, bool is_peer,
				  const struct queue_wait **first_ret)
{
	struct rankset *ranks = rankset_create();

	*first_ret = NULL;
	for (size_t m = 0; m < c->num_members; m++) {
		const struct queue_wait *waits;
		size_t num = queue_waits_of(c->waits, c->members[m], &waits);

		for (size_t i = 0; i < num; i++) {
			if (!test(c, &waits[i]))
				continue;
			if (!*first_ret)
				*first_ret = &waits[i];
			rankset_add(ranks, is_peer ? waits[i].peer : waits[i].rank);
		}
	}
	return ranks;
}

/* Exactly one rank, or nobody is named. */
static bool name_one(struct chooser *c, wait_test *test, bool is_peer, enum queue_cause_kind kind)
{
	const struct queue_wait *first;
	struct rankset *ranks = find_ranks(c, test, is_peer, &first);
	bool is_one = rankset_count(ranks) == 1;

	if (is_one) {
		add_evidence(tell(c, kind), first);
		rankset_add_set(c->culprits, ranks);
	}
	rankset_destroy(ranks);
	return is_one;
}

/* ---- Collectives ---- */

/* Of somebody else in the component; NULL: nobody waits for these. */
static const struct queue_wait *find_wait_for(const struct chooser *c, const struct rankset *ranks)
{
	for (size_t m = 0; m < c->num_members; m++) {
		const struct queue_wait *waits;
		size_t num = queue_waits_of(c->waits, c->members[m], &waits);

		for (size_t i = 0; i < num; i++)
			if (is_between_members(c, &waits[i]) &&
			    rankset_contains(ranks, waits[i].peer) &&
			    !rankset_contains(ranks, waits[i].rank))
				return &waits[i];
	}
	return NULL;
}

static void gather_apart(struct chooser *c)
{
	uint32_t common;

	if (!verdict_find_common_call(c->facts, c->waiting, &common))
		return;
	c->apart = rankset_create();
	for (int r = rankset_first(c->waiting); r >= 0; r = rankset_next(c->waiting, r))
		if (c->facts->ranks[r].call != common)
			rankset_add(c->apart, r);
	if (rankset_count(c->apart) <= MAX_APART)
		return;
	rankset_destroy(c->apart);
	c->apart = NULL;
}

/* All ranks but a few are in one call, and these few, which are in other collectives, belong to
 * those that wait for each other. */
static bool find_apart(struct chooser *c)
{
	const struct queue_wait *wait;

	if (!c->apart)
		return false;
	for (int r = rankset_first(c->apart); r >= 0; r = rankset_next(c->apart, r))
		if (!is_member(c, r))
			return false;
	for (size_t i = 0; i < c->num_members; i++)
		if (!is_in_collective(c, c->members[i]))
			return false;
	wait = find_wait_for(c, c->apart);
	if (!wait)
		return false;
	add_evidence(tell(c, QUEUE_CAUSE_APART), wait);
	rankset_add_set(c->culprits, c->apart);
	return true;
}

/* ---- Circles ---- */

static bool is_of_program(const struct queue_wait *wait)
{
	return wait->kind != QUEUE_WAIT_COLLECTIVE && !wait->is_any;
}

static bool waits_by_program(const struct chooser *c, int rank)
{
	const struct queue_wait *waits;
	size_t num = queue_waits_of(c->waits, rank, &waits);

	for (size_t i = 0; i < num; i++)
		if (is_of_program(&waits[i]))
			return true;
	return false;
}

/* The shortest way by the program's own messages from a rank back to itself: the waits, in
 * order, into way. Returns how many; 0: there is none. before is all NULL, and is so again after
 * it. */
static size_t find_circle(const struct chooser *c, int start)
{
	const struct queue_wait **before = c->circle.before, **way = c->circle.way;
	const struct queue_wait *waits, *last = NULL;
	int *queue = c->circle.queue;
	size_t head = 0, tail = 0, length = 0, num;

	queue[tail++] = start;
	while (head < tail && !last) {
		num = queue_waits_of(c->waits, queue[head++], &waits);
		for (size_t i = 0; i < num && !last; i++) {
			if (!is_of_program(&waits[i]) || !is_member(c, waits[i].peer))
				continue;
			if (waits[i].peer == start) {
				last = &waits[i];
			} else if (!before[waits[i].peer]) {
				before[waits[i].peer] = &waits[i];
				queue[tail++] = waits[i].peer;
			}
		}
	}
	for (const struct queue_wait *at = last; at;
	     at = at->rank == start ? NULL : before[at->rank])
		length++;
	num = length;
	for (const struct queue_wait *at = last; num > 0; at = before[at->rank])
		way[--num] = at;
	for (size_t i = 0; i < tail; i++)
		before[queue[i]] = NULL;
	return length;
}

/* The shortest circle of the component, if there is one. */
static bool find_cycle(struct chooser *c, enum queue_cause_kind kind)
{
	size_t num_ranks = c->waits->num_ranks, best = SIZE_MAX;
	size_t most = kind == QUEUE_CAUSE_OPEN ? num_ranks : num_ranks / MAX_CYCLE_SHARE;
	const struct queue_wait **shortest = c->circle.shortest;
	size_t num_starts = 0;
	bool is_found;

	for (size_t m = 0; m < c->num_members && best > MIN_CYCLE && num_starts < MAX_CYCLE_STARTS;
	     m++) {
		size_t length;

		if (!waits_by_program(c, c->members[m]))
			continue;
		num_starts++;
		length = find_circle(c, c->members[m]);
		if (!length || length >= best)
			continue;
		best = length;
		memcpy(shortest, c->circle.way, length * sizeof(struct queue_wait *));
	}
	/* Where not all was looked at there may be a smaller one. */
	is_found = best <= MIN_CYCLE ||
		   (best <= most && (kind == QUEUE_CAUSE_OPEN || num_starts < MAX_CYCLE_STARTS));
	if (is_found) {
		struct queue_cause *cause = tell(c, kind);

		for (size_t i = 0; i < best; i++) {
			add_evidence(cause, shortest[i]);
			if (kind == QUEUE_CAUSE_CYCLE)
				rankset_add(c->culprits, shortest[i]->rank);
		}
	}
	return is_found;
}

/* ---- All of it ---- */

/* Which components are of several ranks that wait for each other, and for nobody else: [num],
 * the caller frees. */
static bool *find_closed(const struct chooser *c, uint32_t num)
{
	bool *is_closed = xcalloc(num, sizeof(*is_closed));

	for (size_t i = 0; i < c->waits->num_waits; i++) {
		const struct queue_wait *wait = &c->waits->waits[i];

		is_closed[c->component_of[wait->rank]] |=
			c->component_of[wait->rank] == c->component_of[wait->peer];
	}
	for (size_t i = 0; i < c->waits->num_waits; i++) {
		const struct queue_wait *wait = &c->waits->waits[i];

		if (c->component_of[wait->rank] != c->component_of[wait->peer])
			is_closed[c->component_of[wait->rank]] = false;
	}
	for (size_t r = 0; r < c->waits->num_ranks; r++)
		if (c->waits->is_open[r])
			is_closed[c->component_of[r]] = false;
	return is_closed;
}

static bool choose_in_component(struct chooser *c)
{
	return name_one(c, waits_ahead, false, QUEUE_CAUSE_SKIPPED) ||
	       name_one(c, is_left_out, true, QUEUE_CAUSE_LOST) ||
	       name_one(c, is_left_out, false, QUEUE_CAUSE_SKIPPED) ||
	       name_one(c, is_past_collective, true, QUEUE_CAUSE_APART) || find_apart(c) ||
	       find_cycle(c, QUEUE_CAUSE_CYCLE);
}

static bool find_open(struct chooser *c)
{
	return find_cycle(c, QUEUE_CAUSE_OPEN);
}

/* Try one closed component after the other, until there is a cause. first: [num + 1], as in
 * choose(). */
static void choose_among(struct chooser *c, const size_t *first, const bool *is_closed,
			 uint32_t num, bool (*is_chosen)(struct chooser *))
{
	for (uint32_t i = 0; i < num && !c->cause; i++) {
		c->component = i;
		c->members = c->by_component + first[i];
		c->num_members = first[i + 1] - first[i];
		if (is_closed[i])
			is_chosen(c);
	}
}

/* The ranks of each component: those of component i are by_component[ret[i]] to
 * by_component[ret[i + 1] - 1]. The caller frees. */
static size_t *sort_ranks(const struct chooser *c, uint32_t num)
{
	size_t *first = xcalloc((size_t)num + 2, sizeof(*first)), *next = first + 1;

	for (size_t r = 0; r < c->waits->num_ranks; r++)
		first[c->component_of[r] + 2]++;
	for (uint32_t i = 2; i < num + 2; i++)
		first[i] += first[i - 1];
	for (size_t r = 0; r < c->waits->num_ranks; r++)
		c->by_component[next[c->component_of[r]]++] = (int)r;
	return first;
}

static void choose(struct chooser *c)
{
	size_t num_ranks = c->waits->num_ranks, *first;
	struct arena *scratch = arena_create();
	struct graph *graph = queue_waits_graph(scratch, c->waits);
	bool *is_closed;
	uint32_t num;

	c->circle = (struct circle){
		.before = xcalloc(num_ranks, sizeof(*c->circle.before)),
		.way = xcalloc(num_ranks, sizeof(*c->circle.way)),
		.shortest = xcalloc(num_ranks, sizeof(*c->circle.shortest)),
		.queue = xcalloc(num_ranks, sizeof(*c->circle.queue)),
	};
	c->component_of = xcalloc(num_ranks, sizeof(*c->component_of));
	c->by_component = xcalloc(num_ranks, sizeof(*c->by_component));
	find_groups(c);
	gather_apart(c);
	num = graph_components(graph, c->component_of);
	first = sort_ranks(c, num);
	is_closed = find_closed(c, num);
	choose_among(c, first, is_closed, num, choose_in_component);
	if (c->verdict->kind == VERDICT_UNKNOWN)
		choose_among(c, first, is_closed, num, find_open);
	arena_destroy(scratch);
	free(first);
	free(is_closed);
	rankset_destroy(c->apart);
	free(c->by_component);
	free(c->group_of);
	free(c->component_of);
	free(c->circle.before);
	free(c->circle.way);
	free(c->circle.shortest);
	free(c->circle.queue);
}

static uint64_t shortest_stay(const struct chooser *c)
{
	uint64_t shortest = UINT64_MAX;

	for (int r = rankset_first(c->culprits); r >= 0; r = rankset_next(c->culprits, r))
		if (stack_facts_get(c->facts, r)->span_ns < shortest)
			shortest = stack_facts_get(c->facts, r)->span_ns;
	return shortest;
}

/* Takes over the sets. */
static void accuse(struct chooser *c)
{
	struct verdict *verdict = c->verdict;

	verdict->kind = c->cause->kind == QUEUE_CAUSE_LOST ? VERDICT_LOST : VERDICT_DEADLOCK;
	verdict->is_by_order = false;
	verdict->is_likely = true;
	verdict->stay_ns = shortest_stay(c);
	verdict->is_hang = verdict->stay_ns >= VERDICT_HANG_NEW_NS;
	rankset_destroy(verdict->culprits);
	rankset_destroy(verdict->waiting);
	verdict->culprits = rankset_copy(c->culprits);
	verdict->waiting = rankset_copy(c->waiting);
	rankset_remove_set(verdict->waiting, c->culprits);
}

/* All are inside MPI, and at most the order has chosen among them. */
static bool may_choose(const struct verdict *verdict)
{
	bool is_open = verdict->kind == VERDICT_UNKNOWN ||
		       (verdict->is_by_order &&
			(verdict->kind == VERDICT_LEAST || verdict->kind == VERDICT_UNDECIDED));

	return verdict->basis == VERDICT_BY_STACKS && is_open &&
	       !rankset_is_empty(verdict->waiting);
}

void verdict_choose_by_queues(struct verdict *verdict, const struct job *job,
			      const struct temporal_result *order)
{
	struct chooser c = {.verdict = verdict, .order = order};

	if (!may_choose(verdict))
		return;
	c.facts = stack_facts_create(job);
	c.waits = queue_waits_create(job, c.facts);
	c.waiting = rankset_copy(verdict->waiting);
	rankset_add_set(c.waiting, verdict->culprits);
	c.culprits = rankset_create();
	choose(&c);
	verdict->queue_cause = c.cause;
	if (c.cause && c.cause->kind != QUEUE_CAUSE_OPEN)
		accuse(&c);
	rankset_destroy(c.waiting);
	rankset_destroy(c.culprits);
	queue_waits_destroy(c.waits);
	stack_facts_destroy(c.facts);
}
