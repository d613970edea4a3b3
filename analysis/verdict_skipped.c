/* SPDX-License-Identifier: BSD-3-Clause
 * Collectives that a rank has left out. In a deadlock some wait for it in a collective, and it waits
 * for a message of theirs: either it has gone past the collective without calling it, or they have
 * come there without sending. It has gone past if it is further by the progress order, if it has sent
 * its own message of an exchange to one that has not come to receive it, or to another than the one from
 * which it receives (most likely), or if it is in a place where they all have been equally often, and it
 * once more. Or it waits for them in another collective, with others that have called both, or alone (most
 * likely), or in a send to one of them (most likely: who has left out a receive does so for the first time). */
#include <stdlib.h>

#include "analysis/progress.h"
#include "analysis/verdict_private.h"
#include "model/job_comms.h"
#include "model/job_model.h"
#include "model/rankset.h"
#include "model/xalloc.h"

bool verdict_is_before_exchange(const struct waitfor *w, int rank, int peer, uint32_t comm)
{
	for (size_t i = 0; i < w->num_unreceived; i++) {
		const struct waitfor_unreceived *message = &w->unreceived[i];

		if (message->source == rank && message->destination == peer &&
		    message->comm == comm)
			return true;
	}
	return false;
}

/* Fewer visits to a place are no rule, nor are those of one other rank alone. */
enum { FEWEST_VISITS = 10, FEWEST_VISITORS = 2 };

/* Does it wait for messages, or in an exchange of them, and for nothing else? */
static bool waits_for_messages(const struct waitfor *w, const struct waitfor_lane *lane)
{
	size_t num_messages = 0;

	for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++) {
		if (w->needs[n].kind != WAITFOR_MESSAGE && w->needs[n].kind != WAITFOR_RECEIVE)
			return false;
		num_messages += w->needs[n].kind == WAITFOR_MESSAGE;
	}
	return num_messages > 0;
}

static bool is_in_collective(const struct waitfor *w, uint32_t l, uint32_t collective)
{
	const struct waitfor_lane *lane = &w->lanes[l];

	return lane->num_needs == 1 &&
	       waitfor_collective_of(w, w->needs[lane->first_need].node) == collective;
}

/* Has it sent, to a rank that waits in the collective, a message of the exchange in which it waits? */
static bool has_sent_early(const struct judge *j, uint32_t l, uint32_t collective)
{
	const struct waitfor *w = j->waitfor;
	const struct waitfor_lane *lane = &w->lanes[l];

	for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++) {
		const struct waitfor_need *need = &w->needs[n];
		uint32_t first = 0;
		size_t num = need->peer < 0 ? 0 : waitfor_lanes_of(w, need->peer, &first);

		for (uint32_t p = first; num && p < first + num; p++)
			if (is_in_collective(w, p, collective) &&
			    verdict_is_before_exchange(w, j->jm->lanes[l].rank, need->peer,
						       need->comm))
				return true;
	}
	return false;
}

static bool is_rank_in_collective(const struct waitfor *w, int rank, uint32_t collective)
{
	uint32_t first;
	size_t num = waitfor_lanes_of(w, rank, &first);

	for (uint32_t l = first; l < first + num; l++)
		if (is_in_collective(w, l, collective))
			return true;
	return false;
}

/* Does it wait until those in the collective receive what it sends, and for nothing else? */
static bool sends_to_waiting(const struct waitfor *w, uint32_t l, uint32_t collective)
{
	const struct waitfor_lane *lane = &w->lanes[l];

	for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++)
		if (w->needs[n].kind != WAITFOR_RECEIVE || w->needs[n].peer < 0 ||
		    !is_rank_in_collective(w, w->needs[n].peer, collective))
			return false;
	return lane->num_needs > 0;
}

/* Has it sent, to another in the collective than the one whose message it waits for, what is like that
 * message? If one alone is wrong, it is this one and not both of these: they would have left out the same
 * exchange. Not if those in the collective have themselves sent such messages that are received later. */
static bool has_sent_around(const struct judge *j, uint32_t l, uint32_t collective)
{
	const struct waitfor *w = j->waitfor;
	const struct waitfor_lane *lane = &w->lanes[l];
	bool has_sent = false;

	for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++) {
		const struct waitfor_need *need = &w->needs[n];

		for (size_t i = 0; i < w->num_unreceived; i++) {
			const struct waitfor_unreceived *message = &w->unreceived[i];

			if (need->kind != WAITFOR_MESSAGE || !need->is_certain ||
			    message->comm != need->comm || message->tag != need->tag)
				continue;
			if (is_rank_in_collective(w, message->source, collective))
				return false;
			has_sent |= message->source == j->jm->lanes[l].rank &&
				    message->destination != need->peer &&
				    is_rank_in_collective(w, need->peer, collective) &&
				    is_rank_in_collective(w, message->destination, collective);
		}
	}
	return has_sent;
}

/* It waits in an exchange for a message of anybody. Has it sent its own of that, to one in the collective who
 * has not got it, and have those in the collective sent none? Then they have not come to the exchange. */
static bool has_sent_to_waiting(const struct judge *j, uint32_t l, uint32_t collective)
{
	const struct waitfor *w = j->waitfor;
	const struct waitfor_need *need = &w->needs[w->lanes[l].first_need];
	struct waitfor_unreceived *pending;
	bool has_sent = false, have_others = false;
	size_t num;

	if (w->lanes[l].num_needs != 1 || need->kind != WAITFOR_MESSAGE || need->peer >= 0 ||
	    need->tag == SEG_TAG_ANY || !need->is_certain)
		return false;
	pending = waitfor_find_pending(w, need->comm, need->tag, &num);
	for (size_t i = 0; i < num; i++) {
		if (pending[i].source == j->jm->lanes[l].rank)
			has_sent |= is_rank_in_collective(w, pending[i].destination, collective);
		else
			have_others |= is_rank_in_collective(w, pending[i].source, collective);
	}
	free(pending);
	return has_sent && !have_others;
}

/* Is it alone in another collective, while all others of the deadlock are in this one? Either it has left
 * out this one, or all others have left out the other. */
static bool is_alone_elsewhere(const struct waitfor *w, const struct waitfor_deadlock *deadlock,
			       uint32_t l, uint32_t collective)
{
	const struct waitfor_lane *lane = &w->lanes[l];
	uint32_t other = lane->num_needs ? waitfor_collective_of(w, w->needs[lane->first_need].node)
					 : WAITFOR_NONE;

	if (deadlock->num_lanes < 3 || other == WAITFOR_NONE || other == collective ||
	    !is_in_collective(w, l, other))
		return false;
	for (size_t i = 0; i < deadlock->num_lanes; i++)
		if (deadlock->lanes[i] != l && !is_in_collective(w, deadlock->lanes[i], collective))
			return false;
	return true;
}

/* The collective that the lane waits in, and for nothing else; WAITFOR_NONE: there is none. */
static uint32_t collective_of(const struct waitfor *w, uint32_t l)
{
	const struct waitfor_lane *lane = &w->lanes[l];

	return lane->num_needs == 1 ? waitfor_collective_of(w, w->needs[lane->first_need].node) : WAITFOR_NONE;
}

static bool is_member(const struct waitfor *w, uint32_t collective, int rank)
{
	return job_comm_view_of(&w->comms->comms[w->collectives[collective].comm], rank).model;
}

/* Is anybody who waits in `later` a member of `earlier` that has called that, too? */
static bool have_called_both(const struct judge *j, uint32_t earlier, uint32_t later)
{
	const struct waitfor *w = j->waitfor;
	struct rankset *unknown, *missing = waitfor_missing(w, earlier, &unknown);
	bool is_found = false;

	for (uint32_t l = 0; l < w->num_lanes && !is_found; l++) {
		int rank = j->jm->lanes[l].rank;

		is_found = collective_of(w, l) == later && is_member(w, earlier, rank) &&
			   !rankset_contains(missing, rank) && !rankset_contains(unknown, rank);
	}
	rankset_destroy(missing);
	rankset_destroy(unknown);
	return is_found;
}

/* Which of two collectives comes first; the answer is kept, as most lanes ask for the same two. */
struct call_order {
	uint32_t earlier, later;
	bool is_known; /* by those who have called both */
};

/* Does it wait in another collective, with others that have called this one before that? */
static bool has_gone_past(const struct judge *j, uint32_t l, uint32_t collective, struct call_order *last)
{
	uint32_t other = collective_of(j->waitfor, l);

	if (other == WAITFOR_NONE || other == collective)
		return false;
	if (last->earlier != collective || last->later != other)
		*last = (struct call_order){collective, other,
					    have_called_both(j, collective, other) &&
						    !have_called_both(j, other, collective)};
	return last->is_known;
}

/* The transitions into a state. */
struct ways {
	const struct job_transition **to;
	size_t num;
};

static struct ways find_ways(const struct job_model *jm, uint32_t state)
{
	struct ways ways = {.to = xcalloc(jm->num_transitions, sizeof(*ways.to))};

	for (size_t t = 0; t < jm->num_transitions; t++)
		if (jm->transitions[t].to == state)
			ways.to[ways.num++] = &jm->transitions[t];
	return ways;
}

/* How often the rank has come by them. */
static uint64_t count_visits(const struct ways *ways, int rank)
{
	uint64_t num = 0;

	for (size_t w = 0; w < ways->num; w++)
		for (size_t i = 0; i < ways->to[w]->num_counts; i++)
			if (rankset_contains(ways->to[w]->counts[i].ranks, rank))
				num += ways->to[w]->counts[i].count;
	return num;
}

/* Has it come to where it waits more often than those that wait in the collective, who have been there
 * equally often or never? */
static bool has_come_more_often(const struct judge *j, uint32_t l, uint32_t collective)
{
	const struct job_lane *lanes = j->jm->lanes;
	struct ways ways = find_ways(j->jm, lanes[l].state);
	uint64_t own = count_visits(&ways, lanes[l].rank), visits = 0;
	size_t num_visitors = 0;
	bool are_equal = true;

	for (uint32_t k = 0; are_equal && k < j->waitfor->num_lanes; k++) {
		uint64_t others;

		if (!is_in_collective(j->waitfor, k, collective))
			continue;
		others = count_visits(&ways, lanes[k].rank);
		if (!others)
			continue;
		are_equal = others >= FEWEST_VISITS && (!visits || others == visits);
		visits = others;
		num_visitors++;
	}
	free(ways.to);
	return are_equal && num_visitors >= FEWEST_VISITORS && own > visits;
}

/* Of those that the collective misses, the ranks of the deadlock that have gone past it, as seen from
 * the lane `waiting` in it. */
static void add_skipped(const struct judge *j, const struct waitfor_deadlock *deadlock,
			uint32_t collective, uint32_t waiting, bool by_messages,
			struct call_order *last, struct rankset *ranks, bool *is_sure)
{
	const struct waitfor *w = j->waitfor;
	struct rankset *missing = waitfor_missing(w, collective, NULL);

	for (size_t i = 0; i < deadlock->num_lanes; i++) {
		uint32_t l = deadlock->lanes[i];
		int rank = j->jm->lanes[l].rank;
		bool is_past;

		if (!rankset_contains(missing, rank))
			continue;
		if (has_gone_past(j, l, collective, last)) {
			rankset_add(ranks, rank);
			*is_sure = true;
			continue;
		}
		if (!by_messages && (is_alone_elsewhere(w, deadlock, l, collective) ||
				     sends_to_waiting(w, l, collective)))
			rankset_add(ranks, rank);
		if (!waits_for_messages(w, &w->lanes[l]))
			continue;
		is_past = has_sent_early(j, l, collective) ||
			  has_sent_to_waiting(j, l, collective) ||
			  (!by_messages && has_come_more_often(j, l, collective));
		if (!is_past && by_messages)
			continue;
		if (!is_past && !has_sent_around(j, l, collective) &&
		    progress_compare(j->groups->progress, l, waiting) != PROGRESS_MORE)
			continue;
		*is_sure |= is_past;
		rankset_add(ranks, rank);
	}
	rankset_destroy(missing);
}

struct rankset *verdict_find_skipped(const struct judge *j, const struct waitfor_deadlock *deadlock,
				     bool by_messages, uint32_t *collective_ret,
				     bool *is_likely_ret)
{
	const struct waitfor *w = j->waitfor;
	struct rankset *ranks = rankset_create();
	struct call_order last = {WAITFOR_NONE, WAITFOR_NONE, false};
	bool is_sure = false;

	for (size_t i = 0; j->groups->progress && i < deadlock->num_lanes; i++) {
		const struct waitfor_lane *lane = &w->lanes[deadlock->lanes[i]];
		uint32_t collective;

		if (lane->num_needs != 1)
			continue;
		collective = waitfor_collective_of(w, w->needs[lane->first_need].node);
		if (collective == WAITFOR_NONE)
			continue;
		add_skipped(j, deadlock, collective, deadlock->lanes[i], by_messages, &last,
			    ranks, &is_sure);
		*collective_ret = collective;
		if (!rankset_is_empty(ranks))
			break;
	}
	*is_likely_ret = !is_sure;
	/* Where most of them have, it may be the others that went wrong. */
	if (!rankset_is_empty(ranks) && 2 * rankset_count(ranks) < rankset_count(deadlock->ranks) + 1)
		return ranks;
	rankset_destroy(ranks);
	return NULL;
}
