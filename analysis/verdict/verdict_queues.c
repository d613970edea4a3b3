/* SPDX-License-Identifier: BSD-3-Clause
 * The verdict by stacks, where MPI libraries tell which messages are missing, though not who should
 * have sent them. All ranks are inside MPI, and nobody moves, so the ways end at ranks that wait
 * for each other: the knots. In such a knot, in this order:
 *
 *	skipped  a rank waits for messages of ranks in a collective, and these, or others in that
 *		 collective, have not come to receive what it sent: it has left something out
 *	lost	 a rank waits for a message of one that is in a collective, or further by messages
 *		 that it has sent since or by the order of the calls: that one has left it out
 *	apart	 who is awaited in a collective is in another one, and further by the order of the
 *		 calls, or all ranks are in one but for these
 *	cycle	 ranks wait for each other's messages, and nothing tells who went wrong
 *	open	 the same, of so many that nobody is named: that they wait for each other is told */
#include "analysis/stacks/temporal.h"
#include "analysis/verdict/verdict_private.h"
#include "analysis/waits/wait_graph.h"

/* More than this share of the ranks, or this many, in a circle: nobody is named. Circles are looked
 * for from that many ranks, each at the cost of a walk over all waits of the knot. */
enum { MAX_CYCLE_SHARE = 4, MIN_CYCLE = 2, MAX_CYCLE_STARTS = 256, MAX_APART = 3 };

struct chooser {
	struct arena *arena;
	struct verdict *verdict;
	const struct temporal_result *order; /* may be NULL */
	size_t *group_of;                    /* [num_ranks] in it; SIZE_MAX: none */
	struct stack_facts *facts;
	struct queue_waits *waits;
	struct wait_knots *knots;
	struct rankset *ranks; /* the knot that is looked at */
	struct rankset *apart; /* the few that are not in the call that most are in; NULL: not so */
	struct rankset *waiting;   /* all */
	struct queue_cause *cause; /* NULL: nothing found yet */
	struct rankset *culprits;
};

/* Does it wait for the library's own messages, and for no others? */
static bool is_in_collective(const struct chooser *c, int rank)
{
	for (const struct queue_wait *wait = NULL; (wait = queue_waits_next(c->waits, rank, wait));)
		if (wait->kind != QUEUE_WAIT_COLLECTIVE)
			return false;
	return queue_waits_next(c->waits, rank, NULL) != NULL;
}

static bool waits_for_receive(const struct chooser *c, int rank, int other)
{
	for (const struct queue_wait *wait = NULL; (wait = queue_waits_next(c->waits, rank, wait));)
		if (wait->kind == QUEUE_WAIT_RECEIVE && wait->peer == other)
			return true;
	return false;
}

/* Is `rank` further, by what it has sent and `other` has not come to receive, or by the order? */
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

	c->group_of = arena_array(c->arena, num, sizeof(*c->group_of));
	memset(c->group_of, 0xff, num * sizeof(*c->group_of));
	for (size_t g = 0; c->order && g < c->order->num_groups; g++) {
		const struct rankset *ranks = c->order->groups[g].ranks;

		for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
			if ((size_t)r < num)
				c->group_of[r] = g;
	}
}

/* What is told, with room for the waits that tell it. */
static struct queue_cause *tell(struct chooser *c, enum queue_cause_kind kind, size_t num_waits)
{
	struct arena *arena = c->verdict->arena;

	c->cause = arena_alloc(arena, sizeof(*c->cause));
	*c->cause = (struct queue_cause){
		.kind = kind,
		.waits = arena_array(arena, num_waits, sizeof(*c->cause->waits)),
		.num_waits = num_waits,
		.ranks = rankset_in(arena, rankset_copy(c->ranks)),
	};
	return c->cause;
}

/* ---- A message between two of them ---- */

/* Are both in a collective that is called at the same place, on communicators of one name? */
static bool are_in_same(const struct chooser *c, int a, int b)
{
	const struct queue_wait *of_a = queue_waits_next(c->waits, a, NULL);
	const struct queue_wait *of_b = queue_waits_next(c->waits, b, NULL);

	return is_in_collective(c, a) && is_in_collective(c, b) &&
	       c->facts->ranks[a].call == c->facts->ranks[b].call &&
	       !strcmp(of_a->comm, of_b->comm);
}

/* Has the rank sent what `other`, or some in the same collective, have not come to receive? */
static bool has_sent_ahead(const struct chooser *c, int rank, int other)
{
	const struct queue_arrival *messages;
	size_t num = queue_waits_unreceived_of(c->waits, rank, false, &messages);

	for (size_t i = 0; i < num; i++) {
		int destination = messages[i].destination;

		if (destination == other || are_in_same(c, destination, other))
			return true;
	}
	return false;
}

/* Who waits for a message, or that one is received, is further than the other end. */
static bool waits_ahead(const struct chooser *c, const struct queue_wait *wait)
{
	return !wait->is_any && wait->kind != QUEUE_WAIT_COLLECTIVE &&
	       is_in_collective(c, wait->peer) && has_sent_ahead(c, wait->rank, wait->peer);
}

/* Whoever is to take part in the collective is in a later call. */
static bool is_past_collective(const struct chooser *c, const struct queue_wait *wait)
{
	return !wait->is_any && wait->kind == QUEUE_WAIT_COLLECTIVE &&
	       c->facts->ranks[wait->rank].call != c->facts->ranks[wait->peer].call &&
	       is_further(c, wait->peer, wait->rank);
}

/* Whoever is to send the message has gone past that. */
static bool is_left_out(const struct chooser *c, const struct queue_wait *wait)
{
	return !wait->is_any && wait->kind == QUEUE_WAIT_MESSAGE &&
	       !queue_waits_has_unreceived(c->waits, wait->rank, wait->peer) &&
	       (is_in_collective(c, wait->peer) || is_further(c, wait->peer, wait->rank));
}

typedef bool wait_test(const struct chooser *c, const struct queue_wait *wait);

/* Exactly one member waits so, or is waited for so; else nobody is named. */
static bool name_one(struct chooser *c, wait_test *test, bool is_peer, enum queue_cause_kind kind)
{
	const struct queue_wait *wait = NULL, *first = NULL;
	struct rankset *named = rankset_in(c->arena, rankset_create());

	for (int r = rankset_first(c->ranks); r >= 0; r = rankset_next(c->ranks, r))
		while ((wait = queue_waits_next(c->waits, r, wait))) {
			if (!test(c, wait))
				continue;
			first = first ? first : wait;
			rankset_add(named, is_peer ? wait->peer : wait->rank);
		}
	if (rankset_count(named) != 1)
		return false;
	tell(c, kind, 1)->waits[0] = *first;
	c->culprits = named;
	return true;
}

/* ---- Collectives ---- */

/* Of somebody else in the knot; NULL: nobody waits for these. */
static const struct queue_wait *find_wait_for(const struct chooser *c, const struct rankset *ranks)
{
	const struct queue_wait *wait = NULL;

	for (int r = rankset_first(c->ranks); r >= 0; r = rankset_next(c->ranks, r))
		while ((wait = queue_waits_next(c->waits, r, wait)))
			if (!wait->is_any && rankset_contains(ranks, wait->peer) &&
			    !rankset_contains(ranks, r))
				return wait;
	return NULL;
}

static void gather_apart(struct chooser *c)
{
	struct rankset *apart = rankset_in(c->arena, rankset_create());

	if (verdict_add_apart(c->facts, c->waiting, apart) && rankset_count(apart) <= MAX_APART)
		c->apart = apart;
}

/* All ranks but a few are in one call, and these few, in other collectives, belong to the knot. */
static bool find_apart(struct chooser *c)
{
	const struct queue_wait *wait;

	if (!c->apart)
		return false;
	for (int r = rankset_first(c->apart); r >= 0; r = rankset_next(c->apart, r))
		if (!rankset_contains(c->ranks, r))
			return false;
	for (int r = rankset_first(c->ranks); r >= 0; r = rankset_next(c->ranks, r))
		if (!is_in_collective(c, r))
			return false;
	wait = find_wait_for(c, c->apart);
	if (!wait)
		return false;
	tell(c, QUEUE_CAUSE_APART, 1)->waits[0] = *wait;
	c->culprits = c->apart;
	return true;
}

/* ---- Circles ---- */

static bool is_of_program(const struct queue_wait *wait)
{
	return wait->kind != QUEUE_WAIT_COLLECTIVE && !wait->is_any;
}

static bool is_way_of_program(const void *context, uint32_t start, const struct wait_way *last,
			      const struct wait_way *next)
{
	const struct chooser *c = context;

	(void)start, (void)last;
	return is_of_program(&c->waits->waits[next->edge]);
}

/* Ranks that wait by the program's own messages: [MAX_CYCLE_STARTS] at most. */
static uint32_t *gather_starts(const struct chooser *c, size_t *num_ret)
{
	uint32_t *starts = arena_array(c->arena, MAX_CYCLE_STARTS, sizeof(*starts));

	*num_ret = 0;
	for (int r = rankset_first(c->ranks); r >= 0 && *num_ret < MAX_CYCLE_STARTS;
	     r = rankset_next(c->ranks, r)) {
		const struct queue_wait *wait = queue_waits_next(c->waits, r, NULL);

		while (wait && !is_of_program(wait))
			wait = queue_waits_next(c->waits, r, wait);
		if (wait)
			starts[(*num_ret)++] = (uint32_t)r;
	}
	return starts;
}

/* The shortest circle of the knot by the program's own messages, if there is one. */
static bool find_cycle(struct chooser *c, enum queue_cause_kind kind)
{
	size_t num_ranks = c->waits->num_ranks, num_starts, length;
	size_t most = kind == QUEUE_CAUSE_OPEN ? num_ranks : num_ranks / MAX_CYCLE_SHARE;
	uint32_t *starts = gather_starts(c, &num_starts);
	struct queue_cause *cause;
	struct wait_way *way;

	length = wait_knots_circle(c->knots, starts, num_starts, is_way_of_program, c, &way);
	/* Where not all was looked at there may be a smaller one. */
	if (length == 0 ||
	    (length > MIN_CYCLE &&
	     (length > most || (kind != QUEUE_CAUSE_OPEN && num_starts == MAX_CYCLE_STARTS))))
		return false;
	cause = tell(c, kind, length);
	c->culprits = rankset_in(c->arena, rankset_create());
	for (size_t i = 0; i < length; i++) {
		cause->waits[i] = c->waits->waits[way[i].edge];
		if (kind == QUEUE_CAUSE_CYCLE)
			rankset_add(c->culprits, (int)way[i].from);
	}
	return true;
}

/* ---- All of it ---- */

static bool choose_in_knot(struct chooser *c)
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

/* Try one knot after the other, until there is a cause. */
static bool choose_among(struct chooser *c, bool (*is_chosen)(struct chooser *))
{
	for (size_t k = 0; k < c->knots->num_knots; k++) {
		const struct wait_knot *knot = &c->knots->knots[k];

		c->ranks = rankset_in(c->arena, rankset_create());
		for (size_t i = 0; i < knot->num_nodes; i++)
			rankset_add(c->ranks, (int)knot->nodes[i]);
		if (is_chosen(c))
			return true;
	}
	return false;
}

static void accuse(struct chooser *c)
{
	struct verdict *verdict = c->verdict;

	verdict->waiting = rankset_in(verdict->arena, rankset_copy(c->waiting));
	verdict_accuse_by_stacks(verdict, c->facts, c->culprits,
				 c->cause->kind == QUEUE_CAUSE_LOST ? VERDICT_LOST
								    : VERDICT_DEADLOCK);
	verdict->is_by_order = false;
	verdict->is_likely = true;
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
	c.arena = arena_create();
	c.facts = stack_facts_create(job, c.arena);
	c.waits = queue_waits_create(job, c.facts, c.arena);
	c.knots = wait_graph_find_knots(c.waits->graph, NULL, false, c.arena);
	c.waiting = rankset_in(c.arena, rankset_copy(verdict->waiting));
	rankset_add_set(c.waiting, verdict->culprits);
	find_groups(&c);
	gather_apart(&c);
	if (choose_among(&c, choose_in_knot))
		accuse(&c);
	else if (verdict->kind == VERDICT_UNKNOWN)
		choose_among(&c, find_open);
	verdict->queue_cause = c.cause;
	arena_destroy(c.arena);
}
