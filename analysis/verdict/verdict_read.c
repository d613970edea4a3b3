/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks that wait for each other by what MPI libraries hold of messages: which of them has left
 * something out. In this order:
 *
 *	skipped  a rank waits for messages of ranks in a collective, and these, or others in that
 *		 collective, have not come to receive what it sent: it has left something out
 *	fewest	 several in a collective have not sent what others wait for, and one has not come
 *		 there: that one has left out the collective
 *	lost	 a rank waits for a message of one that is in a collective, or further by messages
 *		 that it has sent since or by the order of the calls: that one has left it out; or
 *		 waits for one in a collective to receive, where it is the order that tells, or that
 *		 another waits for the same message of its own
 *	past	 who is awaited in a collective is in another one, and further by the order; not
 *		 where that collective holds the whole job
 *	apart	 all ranks are in one collective but for a few, that are awaited there
 *
 * Where one waits in a collective of the whole job, and more ranks where it is waited for, these have
 * not all gone past the collective: it has left something out itself.
 *
 * Each names exactly one rank (apart: a few), or nobody. */
#include "analysis/verdict/verdict_private.h"
#include "model/job/message_queues.h"
#include "model/job/names.h"
#include "model/job/sample.h"

/* Does it wait in a collective, by the library's own messages or by who has not come, and for
 * nothing else? */
static bool is_in_collective(const struct judge *j, uint32_t l)
{
	unsigned kinds = waitfor_kinds_of(j->waitfor, l);

	return kinds && !(kinds & ~(1U << WAITFOR_PART | 1U << WAITFOR_MEMBERS));
}

static bool is_rank_in_collective(const struct judge *j, int rank)
{
	uint32_t l = waitfor_first_actor(j->waitfor, rank);

	return l != WAITFOR_NONE && is_in_collective(j, l);
}

static bool waits_for_receive(const struct judge *j, uint32_t l, int other)
{
	for (const struct waitfor_need *need = NULL;
	     (need = waitfor_next_need(j->waitfor, l, need));)
		if (need->kind == WAITFOR_RECEIVE && need->peer == other)
			return true;
	return false;
}

/* Where not all ranks have a recorder, counts do not tell of all, and rules that need those of all
 * find nobody. */
static bool has_unrecorded(const struct judge *j)
{
	return j->evidence->num_lanes < j->num_actors;
}

static uint32_t call_of(const struct judge *j, int rank)
{
	return stack_facts_get(j->evidence->stacks, rank)->call;
}

/* Are both in a collective that is called at the same place? */
static bool are_in_same(const struct judge *j, int a, int b)
{
	return is_rank_in_collective(j, a) && is_rank_in_collective(j, b) &&
	       call_of(j, a) == call_of(j, b);
}

static bool is_further(const struct judge *j, int rank, uint32_t than)
{
	uint32_t l = waitfor_first_actor(j->waitfor, rank);

	return l != WAITFOR_NONE && !waits_for_receive(j, l, j->actors[than].rank) &&
	       verdict_ahead(j, l, than) != AHEAD_NOT;
}

/* Does a message like this tell that who sent it waits in an exchange? Who asks a question sends
 * one tag and waits for another. */
static bool is_of_exchange(const struct judge *j, uint32_t l, int32_t tag)
{
	for (const struct waitfor_need *need = NULL;
	     (need = waitfor_next_need(j->waitfor, l, need));)
		if (need->kind == WAITFOR_RECEIVE || need->tag == tag || need->tag == SEG_TAG_ANY)
			return true;
	return false;
}

/* Has it sent what `other`, or some in the same collective, have not come to receive? */
static bool has_sent_ahead(const struct judge *j, uint32_t l, int other)
{
	const struct waitfor_arrival *messages;
	size_t num = waitfor_arrivals_of(j->waitfor, j->actors[l].rank, false, &messages);

	for (size_t i = 0; i < num; i++) {
		int to = messages[i].destination;

		if ((to == other || are_in_same(j, to, other)) &&
		    is_of_exchange(j, l, messages[i].tag))
			return true;
	}
	return false;
}

/* Does a rank wait for a message of the actor, with this tag? */
static bool is_awaited(const struct judge *j, uint32_t l, int32_t tag)
{
	for (size_t n = 0; n < j->waitfor->num_needs; n++) {
		const struct waitfor_need *need = &j->waitfor->needs[n];

		if (need->kind == WAITFOR_MESSAGE && need->tag == tag &&
		    need->peer == j->actors[l].rank)
			return true;
	}
	return false;
}

/* Is the need for a collective of the whole job, from which nobody goes on before all have come? */
static bool holds_all(const struct judge *j, const struct waitfor_need *need)
{
	const struct stack_fact *fact = j->actors[need->actor].stack;
	const struct message_queues *queues = fact->latest ? fact->latest->queues : NULL;

	if (names_mpi_kind(j->job->names, fact->function) == NAMES_MPI_ONE_WAY)
		return false;
	for (size_t i = 0; queues && i < queues->num_comms; i++)
		if (queues->comms[i].name == need->comm_name)
			return queues->comms[i].size == j->evidence->num_ranks;
	return false;
}

/* Are more ranks where the actor waits than in the collective of the whole job that the peer waits
 * in? Had the actor gone past that, so had all of these: rather the peer has left out what they
 * wait for. */
static bool are_most_outside(const struct judge *j, uint32_t l, int peer)
{
	uint32_t other = waitfor_first_actor(j->waitfor, peer);
	int num_inside = 0, num_outside = 0;

	if (!is_rank_in_collective(j, peer) ||
	    !holds_all(j, waitfor_next_need(j->waitfor, other, NULL)))
		return false;
	for (size_t i = 0; i < j->num_actors; i++) {
		if (!j->actors[i].is_main || !j->facts[i].is_waiting)
			continue;
		num_inside += call_of(j, j->actors[i].rank) == call_of(j, peer);
		num_outside += call_of(j, j->actors[i].rank) == call_of(j, j->actors[l].rank);
	}
	return num_outside > num_inside;
}

/* Has the other end gone past the receive that is waited for? Where another one waits for such a
 * message, its sender has not come further than that one. */
static bool is_not_received(const struct judge *j, const struct waitfor_need *need)
{
	return need->kind == WAITFOR_RECEIVE && is_rank_in_collective(j, need->peer) &&
	       (is_further(j, need->peer, need->actor) || is_awaited(j, need->actor, need->tag) ||
		are_most_outside(j, need->actor, need->peer));
}

/* Who waits for a message, or that one is received, is further than the other end. */
static bool waits_ahead(const struct judge *j, const struct waitfor_need *need)
{
	return need->peer >= 0 && need->kind != WAITFOR_PART &&
	       is_rank_in_collective(j, need->peer) && has_sent_ahead(j, need->actor, need->peer) &&
	       !is_not_received(j, need) && !are_most_outside(j, need->actor, need->peer);
}

/* Whoever is to take part in the collective is in a later call. If that holds all of them, so many
 * may be in a later call only because it was not theirs. */
static bool is_past_collective(const struct judge *j, const struct waitfor_need *need)
{
	return need->peer >= 0 && need->kind == WAITFOR_PART && !holds_all(j, need) &&
	       call_of(j, j->actors[need->actor].rank) != call_of(j, need->peer) &&
	       is_further(j, need->peer, need->actor);
}

/* Whoever is to send the message, or to receive it, has gone past that. */
static bool is_left_out(const struct judge *j, const struct waitfor_need *need)
{
	uint32_t peer;

	if (need->peer < 0 || need->kind != WAITFOR_MESSAGE)
		return need->peer >= 0 && is_not_received(j, need);
	peer = waitfor_first_actor(j->waitfor, need->peer);
	if (is_further(j, need->peer, need->actor) || are_most_outside(j, need->actor, need->peer))
		return true;
	return peer != WAITFOR_NONE && is_in_collective(j, peer) &&
	       !has_sent_ahead(j, need->actor, need->peer) &&
	       verdict_ahead(j, need->actor, peer) == AHEAD_NOT;
}

typedef bool need_test(const struct judge *j, const struct waitfor_need *need);

/* Who is named, and the need that tells. */
struct found {
	struct rankset *ranks;
	const struct waitfor_need *need;
};

/* Exactly one waits so, or is waited for so; else nobody is named. */
static bool name_one(const struct judge *j, const struct waitfor_deadlock *deadlock,
		     need_test *test, bool is_peer, struct found *ret)
{
	const struct waitfor_need *need = NULL;

	ret->need = NULL;
	ret->ranks = rankset_in(j->arena, rankset_create());
	while ((need = waitfor_next_need_of(j->waitfor, deadlock, need))) {
		if ((!need->is_read && !has_unrecorded(j)) || !test(j, need))
			continue;
		ret->need = ret->need ?: need;
		rankset_add(ret->ranks, is_peer ? need->peer : j->actors[need->actor].rank);
	}
	return rankset_count(ret->ranks) == 1;
}

void verdict_find_apart(const struct judge *j, const struct rankset *ranks, struct rankset *apart)
{
	size_t num = (size_t)rankset_count(ranks), at = 0;
	uint32_t *calls = arena_array(j->arena, num, sizeof(*calls)), common;

	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
		calls[at++] = call_of(j, r);
	qsort(calls, num, sizeof(*calls), sorted_compare_u32);
	/* If there is such a call, the middle one of all is it. */
	common = calls[num / 2];
	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
		if (call_of(j, r) != common)
			rankset_add(apart, r);
	if (2 * (size_t)rankset_count(apart) >= num)
		rankset_remove_set(apart, ranks);
}

static bool has_all(const struct rankset *set, const struct rankset *ranks)
{
	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
		if (!rankset_contains(set, r))
			return false;
	return true;
}

static bool find_few_apart(const struct judge *j, const struct waitfor_deadlock *deadlock,
			   const struct rankset *ranks, struct found *ret)
{
	ret->ranks = rankset_in(j->arena, rankset_create());
	verdict_find_apart(j, ranks, ret->ranks);
	return !rankset_is_empty(ret->ranks) && rankset_count(ret->ranks) <= thresholds.apart &&
	       has_all(deadlock->ranks, ret->ranks);
}

/* Those that have sent their part to ranks that are elsewhere and do not take it: their call is not
 * what the others' were. */
static struct rankset *find_unasked(const struct judge *j, const struct rankset *apart)
{
	struct rankset *unasked = rankset_in(j->arena, rankset_create());

	for (int r = rankset_first(apart); r >= 0; r = rankset_next(apart, r)) {
		const struct waitfor_arrival *parts;
		size_t num = waitfor_arrivals_of(j->waitfor, r, true, &parts);

		for (size_t i = 0; i < num; i++)
			if (!rankset_contains(apart, parts[i].destination))
				rankset_add(unasked, r);
	}
	return unasked;
}

/* All but a few are in one call: of all who wait, or else of the deadlock, to which these few
 * belong. It is all of collectives, and somebody waits for one of the few. */
static bool name_apart(const struct judge *j, const struct waitfor_deadlock *deadlock,
		       struct found *ret)
{
	const struct waitfor_need *need = NULL;

	for (size_t i = 0; i < deadlock->num_actors; i++)
		if (!is_in_collective(j, deadlock->actors[i]))
			return false;
	if (!find_few_apart(j, deadlock, j->verdict->waiting, ret) &&
	    !find_few_apart(j, deadlock, deadlock->ranks, ret))
		return false;
	if (!rankset_is_empty(find_unasked(j, ret->ranks)))
		ret->ranks = find_unasked(j, ret->ranks);
	while ((need = waitfor_next_need_of(j->waitfor, deadlock, need)))
		if (rankset_contains(ret->ranks, waitfor_peer(j->waitfor, need)) &&
		    !rankset_contains(ret->ranks, j->actors[need->actor].rank)) {
			ret->need = need;
			return true;
		}
	return false;
}

/* Several ranks in a collective have not sent what others wait for, and one has not come there: it
 * is more likely that this one has left out the collective than that all of those have left out
 * their messages. */
static bool name_fewest(const struct judge *j, const struct waitfor_deadlock *deadlock,
			struct found *ret)
{
	struct rankset *silent = rankset_in(j->arena, rankset_create());

	ret->ranks = rankset_in(j->arena, rankset_create());
	for (size_t i = 0; i < j->waitfor->num_needs; i++) {
		const struct waitfor_need *need = &j->waitfor->needs[i];
		int peer = waitfor_peer(j->waitfor, need);

		if (peer < 0 || peer == j->actors[need->actor].rank)
			continue;
		if (need->kind == WAITFOR_MESSAGE && is_rank_in_collective(j, peer)) {
			/* Of several, each may be the one that would do. */
			if (j->waitfor->actors[need->actor].num_needs == 1)
				rankset_add(silent, peer);
		} else if (is_in_collective(j, need->actor) && !is_rank_in_collective(j, peer)) {
			rankset_add(ret->ranks, peer);
			ret->need = need;
		}
	}
	return rankset_count(ret->ranks) == 1 && has_all(deadlock->ranks, ret->ranks) &&
	       rankset_count(silent) > 1;
}

bool verdict_find_read(struct judge *j, const struct stuck *stuck, int how)
{
	static const struct {
		need_test *test; /* NULL: name_fewest() */
		bool is_peer;
		enum verdict_witness_kind witness;
	} tests[] = {
		{waits_ahead, false, WITNESS_AHEAD},       {NULL, false, WITNESS_APART},
		{is_left_out, true, WITNESS_LOST},         {is_left_out, false, WITNESS_AHEAD},
		{is_past_collective, true, WITNESS_APART},
	};
	const struct waitfor_deadlock *deadlock = stuck->deadlock;
	size_t i = 0, num = sizeof(tests) / sizeof(tests[0]);
	const struct waitfor_need *need = NULL;
	struct found found;
	bool has_some = has_unrecorded(j);

	(void)how;
	while ((need = waitfor_next_need_of(j->waitfor, deadlock, need)))
		has_some |= need->is_read;
	if (!has_some)
		return false;
	while (i < num &&
	       !(tests[i].test ? name_one(j, deadlock, tests[i].test, tests[i].is_peer, &found)
			       : name_fewest(j, deadlock, &found)))
		i++;
	if (i == num && !name_apart(j, deadlock, &found))
		return false;
	j->verdict->is_read = true;
	if (i < num && tests[i].witness == WITNESS_LOST) {
		verdict_lose(j, stuck->stay_ns, found.ranks, found.need, WITNESS_LOST);
	} else {
		verdict_accuse_stuck(j, stuck, found.ranks);
		j->verdict->need = found.need;
		j->verdict->witness.kind = i < num ? tests[i].witness : WITNESS_APART;
	}
	verdict_doubt(j, DOUBT_WHO_SENDS);
	return true;
}
