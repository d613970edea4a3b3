/* SPDX-License-Identifier: BSD-3-Clause
 * Collectives that a rank has left out. In a deadlock some wait for it in a collective, and it
 * waits for a message of theirs: either it has gone past the collective, or they have come there
 * without sending. It has gone past if it is further by the progress order, if it has sent its own
 * message of an exchange to one that has not come to receive it, or (most likely) to another than
 * it receives from, or if it is in a place where they all have been equally often, and it once
 * more. Or it waits for them in another collective, with others that have called both, or alone
 * (most likely), or in a send to one of them (most likely: who has left out a receive does so for
 * the first time). */
#include "analysis/progress/progress.h"
#include "analysis/verdict/verdict_private.h"
#include "model/job/job_comms.h"
#include "model/xalloc.h"

/* With how many of those in a collective a rank's progress is compared. */
enum { MOST_COMPARED = 16 };

/* Does it wait for messages, or in an exchange of them, and for nothing else? */
static bool waits_for_messages(const struct waitfor *w, uint32_t l)
{
	unsigned kinds = waitfor_kinds_of(w, l), message = 1U << WAITFOR_MESSAGE;

	return kinds & message && !(kinds & ~(message | 1U << WAITFOR_RECEIVE));
}

/* The collective that the lane waits in, and for nothing else; WAITFOR_NONE: there is none. */
static uint32_t collective_of(const struct waitfor *w, uint32_t l)
{
	const struct waitfor_actor *lane = &w->actors[l];

	return lane->num_needs == 1 ? waitfor_collective_of(w, w->needs[lane->first_need].node)
				    : WAITFOR_NONE;
}

static bool is_in_collective(const struct waitfor *w, uint32_t l, uint32_t collective)
{
	return collective_of(w, l) == collective;
}

static bool is_rank_in_collective(const struct waitfor *w, int rank, uint32_t collective)
{
	for (uint32_t l = waitfor_first_actor(w, rank); waitfor_is_actor_of(w, l, rank); l++)
		if (is_in_collective(w, l, collective))
			return true;
	return false;
}

/* Has it sent a message of its exchange to a rank that waits in the collective? */
static bool has_sent_early(const struct judge *j, uint32_t l, uint32_t collective)
{
	const struct waitfor *w = j->waitfor;

	for (const struct waitfor_need *need = NULL; (need = waitfor_next_need(w, l, need));)
		if (is_rank_in_collective(w, need->peer, collective) &&
		    verdict_is_before_exchange(j, l, need->peer, need->comm))
			return true;
	return false;
}

/* Does it wait until those in the collective receive what it sends, and for nothing else? If these
 * are further, they have left out the receive. */
static bool sends_to_waiting(const struct judge *j, const struct waitfor_deadlock *deadlock,
			     uint32_t l, uint32_t collective)
{
	const struct waitfor *w = j->waitfor;

	for (const struct waitfor_need *need = NULL; (need = waitfor_next_need(w, l, need));)
		if (need->kind != WAITFOR_RECEIVE ||
		    !is_rank_in_collective(w, need->peer, collective) ||
		    verdict_has_left_out_receive(j, deadlock, need))
			return false;
	return w->actors[l].num_needs > 0;
}

/* Has it sent, to another in the collective than the one whose message it waits for, what is like
 * that message? If one alone is wrong, it is not these two, who would have left out the same
 * exchange. Not if those in the collective have sent such messages that are received later. */
static bool has_sent_around(const struct judge *j, uint32_t l, uint32_t collective)
{
	const struct waitfor *w = j->waitfor;
	bool has_sent = false;

	for (const struct waitfor_need *need = NULL; (need = waitfor_next_need(w, l, need));) {
		for (size_t i = 0; i < w->num_unreceived; i++) {
			const struct waitfor_unreceived *message = &w->unreceived[i];

			if (need->kind != WAITFOR_MESSAGE || !need->is_certain ||
			    message->comm != need->comm || message->tag != need->tag)
				continue;
			if (is_rank_in_collective(w, message->source, collective))
				return false;
			has_sent |= message->source == j->actors[l].rank &&
				    message->destination != need->peer &&
				    is_rank_in_collective(w, need->peer, collective) &&
				    is_rank_in_collective(w, message->destination, collective);
		}
	}
	return has_sent;
}

/* It waits in an exchange for a message of anybody. Has it sent its own to one in the collective,
 * who has not got it, and have those there sent none? Then they have not come to the exchange. */
static bool has_sent_to_waiting(const struct judge *j, uint32_t l, uint32_t collective)
{
	const struct waitfor *w = j->waitfor;
	const struct waitfor_need *need = &w->needs[w->actors[l].first_need];
	struct waitfor_unreceived *pending;
	bool has_sent = false, have_others = false;
	size_t num;

	if (w->actors[l].num_needs != 1 || need->kind != WAITFOR_MESSAGE || need->peer >= 0 ||
	    need->tag == SEG_TAG_ANY || !need->is_certain)
		return false;
	pending = waitfor_find_pending(w, need->comm, need->tag, &num);
	for (size_t i = 0; i < num; i++) {
		if (pending[i].source == j->actors[l].rank)
			has_sent |= is_rank_in_collective(w, pending[i].destination, collective);
		else
			have_others |= is_rank_in_collective(w, pending[i].source, collective);
	}
	free(pending);
	return has_sent && !have_others;
}

/* Is it alone in another collective, while all others of the deadlock are in this one? Either it
 * has left out this one, or all others have left out the other. */
static bool is_alone_elsewhere(const struct waitfor *w, const struct waitfor_deadlock *deadlock,
			       uint32_t l, uint32_t collective)
{
	uint32_t other = collective_of(w, l);

	if (deadlock->num_actors < 3 || other == WAITFOR_NONE || other == collective)
		return false;
	for (size_t i = 0; i < deadlock->num_actors; i++)
		if (deadlock->actors[i] != l &&
		    !is_in_collective(w, deadlock->actors[i], collective))
			return false;
	return true;
}

static bool has_called(const struct waitfor *w, uint32_t collective, int rank)
{
	const struct waitfor_collective *c = &w->collectives[collective];
	struct job_comm_view view = job_comm_view_of(&w->comms->comms[c->comm], rank);

	return view.model && job_comm_seen(&view)->collectives >= c->number;
}

/* Does the collective it waits in have an order, as blocking ones of a rank's only thread do? */
static bool has_order(const struct judge *j, uint32_t l)
{
	const struct waitfor *w = j->waitfor;
	uint32_t collective = collective_of(w, l);

	return w->needs[w->actors[l].first_need].request == WAITFOR_NONE &&
	       w->collectives[collective].owner < 0 &&
	       waitfor_num_actors(w, j->actors[l].rank) == 1;
}

/* Is anybody who waits in `later` a member of `earlier` that has called that, too? */
static bool have_called_both(const struct judge *j, uint32_t earlier, uint32_t later)
{
	const struct waitfor *w = j->waitfor;

	for (uint32_t l = 0; l < w->num_actors; l++)
		if (is_in_collective(w, l, later) && has_order(j, l) &&
		    has_called(w, earlier, j->actors[l].rank))
			return true;
	return false;
}

/* A collective of a deadlock, and what has been found about it. */
struct left_out {
	uint32_t collective, waiting; /* that lane waits in it */
	uint32_t later;               /* another one, and is that called after this? */
	bool is_later;
	struct rankset *sure, *guessed; /* who have left it out */
};

/* Does it wait in another collective, with others that have called this one before that? */
static bool has_gone_past(const struct judge *j, uint32_t l, struct left_out *out)
{
	uint32_t later = collective_of(j->waitfor, l);

	if (later == WAITFOR_NONE || later == out->collective || !has_order(j, l) ||
	    !has_order(j, out->waiting))
		return false;
	/* Most lanes ask for the same one. */
	if (out->later != later)
		out->is_later = have_called_both(j, out->collective, later) &&
				!have_called_both(j, later, out->collective);
	out->later = later;
	return out->is_later;
}

/* How often has the rank come by one of these transitions? */
static uint64_t count_visits(const struct job_transition **ways, size_t num_ways, int rank)
{
	uint64_t num = 0;

	for (size_t w = 0; w < num_ways; w++)
		for (size_t i = 0; i < ways[w]->num_counts; i++)
			if (rankset_contains(ways[w]->counts[i].ranks, rank))
				num += ways[w]->counts[i].count;
	return num;
}

/* Has it come here more often than those in the collective, who came equally often or never? */
static bool has_come_more_often(const struct judge *j, uint32_t l, uint32_t collective)
{
	const struct job_transition **ways;
	size_t num_ways = 0, num_visitors = 0;
	uint64_t visits = 0, own;
	bool are_equal = true;

	if (!j->actors[l].lane)
		return false;
	ways = xcalloc(j->jm->num_transitions, sizeof(*ways));

	for (size_t t = 0; t < j->jm->num_transitions; t++)
		if (j->jm->transitions[t].to == j->actors[l].lane->state)
			ways[num_ways++] = &j->jm->transitions[t];
	own = count_visits(ways, num_ways, j->actors[l].rank);
	for (uint32_t k = 0; are_equal && k < j->waitfor->num_actors; k++) {
		uint64_t others = is_in_collective(j->waitfor, k, collective)
					  ? count_visits(ways, num_ways, j->actors[k].rank)
					  : 0;

		if (!others)
			continue;
		are_equal = others >= thresholds.visits && (!visits || others == visits);
		visits = others;
		num_visitors++;
	}
	free(ways);
	return are_equal && num_visitors >= thresholds.visitors && own > visits;
}

/* Is it further, by the progress order, than one of the first that wait in the collective? */
static bool is_further(const struct judge *j, const struct waitfor_deadlock *deadlock, uint32_t l,
		       uint32_t collective)
{
	int num_compared = 0;

	for (size_t i = 0; i < deadlock->num_actors && num_compared < MOST_COMPARED; i++) {
		if (!is_in_collective(j->waitfor, deadlock->actors[i], collective))
			continue;
		if (verdict_ahead(j, l, deadlock->actors[i]) != AHEAD_NOT)
			return true;
		num_compared++;
	}
	return false;
}

/* Of a lane whose rank the collective misses. */
static void add_lane(const struct judge *j, const struct waitfor_deadlock *deadlock, uint32_t l,
		     bool is_sure_only, struct left_out *out)
{
	const struct waitfor *w = j->waitfor;
	bool is_waiting = waits_for_messages(w, l);
	int rank = j->actors[l].rank;

	if (has_gone_past(j, l, out) ||
	    (is_waiting &&
	     (has_sent_early(j, l, out->collective) || has_sent_to_waiting(j, l, out->collective) ||
	      (!is_sure_only && has_come_more_often(j, l, out->collective)))))
		rankset_add(out->sure, rank);
	else if (!is_sure_only && (is_alone_elsewhere(w, deadlock, l, out->collective) ||
				   sends_to_waiting(j, deadlock, l, out->collective) ||
				   (is_waiting && (has_sent_around(j, l, out->collective) ||
						   is_further(j, deadlock, l, out->collective)))))
		rankset_add(out->guessed, rank);
}

static int count_waiting(const struct judge *j, const struct waitfor_deadlock *deadlock,
			 uint32_t collective)
{
	int num = 0;

	for (size_t i = 0; i < deadlock->num_actors; i++)
		num += is_in_collective(j->waitfor, deadlock->actors[i], collective);
	return num;
}

static uint32_t call_of(const struct judge *j, int rank)
{
	return stack_facts_get(j->evidence->stacks, rank)->call;
}

/* Ranks without a recorder that are where the first of these ranks is. */
static int count_unrecorded(const struct judge *j, const struct rankset *ranks)
{
	uint32_t call = call_of(j, rankset_first(ranks));
	int num = 0;

	for (size_t i = j->evidence->num_lanes; i < j->num_actors; i++)
		num += j->facts[i].is_waiting && call_of(j, j->actors[i].rank) == call;
	return num;
}

/* Some, but not most, nor more than wait in the collective: else these may be there in vain. */
static bool are_named(const struct judge *j, const struct rankset *ranks,
		      const struct waitfor_deadlock *deadlock, uint32_t collective)
{
	int num = rankset_count(ranks);

	if (num > 0 && j->waitfor->collectives[collective].needs_all)
		num += count_unrecorded(j, ranks);
	return num > 0 && 2 * num < rankset_count(deadlock->ranks) + 1 &&
	       num <= count_waiting(j, deadlock, collective);
}

/* Missing ranks of the deadlock that have gone past it: the sure ones, or the others. */
static struct rankset *find_past(const struct judge *j, const struct waitfor_deadlock *deadlock,
				 bool is_sure_only, struct left_out *out, bool *is_likely_ret)
{
	struct rankset *missing = rankset_in(j->arena, rankset_create());

	out->sure = rankset_in(j->arena, rankset_create());
	out->guessed = rankset_in(j->arena, rankset_create());
	waitfor_add_missing(j->waitfor, out->collective, missing);
	for (int r = rankset_first(missing); r >= 0; r = rankset_next(missing, r)) {
		uint32_t l = waitfor_first_actor(j->waitfor, r);

		for (; waitfor_is_actor_of(j->waitfor, l, r); l++)
			if (verdict_has_lane(deadlock, l))
				add_lane(j, deadlock, l, is_sure_only, out);
	}
	*is_likely_ret = rankset_is_empty(out->sure);
	return *is_likely_ret ? out->guessed : out->sure;
}

bool verdict_find_skipped(struct judge *j, const struct stuck *stuck, int is_sure_only)
{
	const struct waitfor_deadlock *deadlock = stuck->deadlock;
	const struct waitfor *w = j->waitfor;
	struct rankset *done = rankset_in(j->arena, rankset_create()); /* collectives */

	for (size_t i = 0; i < deadlock->num_actors; i++) {
		uint32_t collective = collective_of(w, deadlock->actors[i]);
		struct left_out out = {.collective = collective,
				       .waiting = deadlock->actors[i],
				       .later = WAITFOR_NONE};
		struct rankset *ranks;
		bool is_likely;

		if (collective == WAITFOR_NONE || rankset_contains(done, (int)collective))
			continue;
		rankset_add(done, (int)collective);
		ranks = find_past(j, deadlock, is_sure_only, &out, &is_likely);
		if (!are_named(j, ranks, deadlock, collective))
			continue;
		verdict_accuse_stuck(j, stuck, ranks);
		j->verdict->witness.kind = WITNESS_SKIPPED;
		j->verdict->witness.collective = collective;
		if (is_likely)
			verdict_doubt(j, DOUBT_PLACES);
		return true;
	}
	return false;
}
