/* SPDX-License-Identifier: BSD-3-Clause
 * The rules that follow what ranks wait for. That ranks are stuck is certain; they are named all
 * the same only after a while, and later while others move, so that a fault of what is recorded
 * does not accuse a job that is well. */
#include <stdlib.h>
#include <string.h>

#include "analysis/verdict/verdict_private.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

/* What MPI_Init_thread provides at most, in all MPI libraries. */
enum { THREAD_MULTIPLE = 3 };

/* ---- How long ---- */

void verdict_shorten(const struct judge *j, uint32_t lane, uint64_t *stay_ns)
{
	if (j->jm->lanes[lane].stay_ns < *stay_ns)
		*stay_ns = j->jm->lanes[lane].stay_ns;
}

void verdict_accuse(struct judge *j, const struct rankset *ranks, enum verdict_kind kind,
		    uint64_t stay_ns)
{
	const struct job_lane *lanes = j->jm->lanes;

	for (size_t i = 0; i < j->jm->num_lanes; i++)
		j->is_candidate[i] = rankset_contains(ranks, lanes[i].rank) &&
				     (j->lanes[i].is_waiting || lanes[i].data->is_main);
	verdict_weigh(j);
	verdict_name_culprits(j, kind);
	j->verdict->stay_ns = stay_ns;
	j->verdict->is_hang = j->verdict->is_stuck = true;
}

/* ---- Deadlocks ---- */

static void lose(struct judge *j, const struct rankset *ranks, uint64_t stay_ns, uint32_t which,
		 uint32_t lane, uint32_t need)
{
	verdict_accuse(j, ranks, VERDICT_LOST, stay_ns);
	j->verdict->which = which;
	j->verdict->lane = lane;
	j->verdict->need = need;
}

/* Does the message belong to an exchange that its destination has not come to yet? Then its source
 * waits there for the destination's message, unless that one is further. */
static bool is_early(const struct judge *j, const struct waitfor_deadlock *deadlock,
		     const struct waitfor_unreceived *message)
{
	const struct waitfor *w = j->waitfor;
	uint32_t first;
	size_t num = waitfor_lanes_of(w, message->source, &first);

	for (uint32_t l = first; j->groups->progress && l < first + num; l++) {
		const struct waitfor_lane *lane = &w->lanes[l];

		for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++)
			if (w->needs[n].kind == WAITFOR_MESSAGE && w->needs[n].is_certain &&
			    w->needs[n].peer == message->destination &&
			    !verdict_is_further(j, deadlock, message->destination, l))
				return true;
	}
	return false;
}

/* A message of other ranks than those of the need. */
static bool is_between_others(const struct waitfor_lost *lost)
{
	return lost->slip == WAITFOR_OTHER_DESTINATION || lost->slip == WAITFOR_OTHER_SOURCE;
}

/* Is it of the two ranks that the need is about, and wrong in one thing alone? Others may as
 * well be on their way to a later receive. */
static bool is_close(const struct waitfor *w, const struct waitfor_lost *lost)
{
	const struct waitfor_need *need = &w->needs[lost->need];

	return !is_between_others(lost) &&
	       (lost->slip == WAITFOR_OTHER_TAG || need->tag == SEG_TAG_ANY ||
		need->tag == w->unreceived[lost->message].tag);
}

/* Has another one than these ranks taken a step that is new to the job? */
static bool has_novel_other(const struct judge *j, const struct waitfor_deadlock *deadlock,
			    const struct rankset *ranks)
{
	uint32_t transition;
	uint32_t actor = verdict_find_novel(j, deadlock->lanes, deadlock->num_lanes, &transition);

	return actor != WAITFOR_NONE && !rankset_contains(ranks, j->jm->lanes[actor].rank);
}

/* There are messages, and nobody receives them, that may be those that are waited for. */
static bool find_slip(struct judge *j, const struct waitfor_deadlock *deadlock, uint64_t stay_ns,
		      bool is_wanted_close)
{
	const struct waitfor *w = j->waitfor;
	struct rankset *ranks = rankset_create();
	uint32_t first = WAITFOR_NONE, need = WAITFOR_NONE;

	for (uint32_t i = 0; i < w->num_losts; i++) {
		const struct waitfor_lost *lost = &w->losts[i];
		const struct waitfor_unreceived *message = &w->unreceived[lost->message];

		/* The likeliest of each need. Where others like it were received before, it is
		 * likely to be received, too. */
		if (!message->is_new || lost->need == need ||
		    is_close(w, lost) != is_wanted_close ||
		    !verdict_has_lane(deadlock, lost->lane) ||
		    (is_between_others(lost) && is_early(j, deadlock, message)))
			continue;
		need = lost->need;
		first = first == WAITFOR_NONE ? i : first;
		rankset_add(ranks, message->source);
		/* The one that sends to this rank, or this one that receives from another. */
		if (lost->slip == WAITFOR_OTHER_SOURCE)
			rankset_add(ranks, message->destination);
	}
	if (first != WAITFOR_NONE && !is_wanted_close && has_novel_other(j, deadlock, ranks))
		first = WAITFOR_NONE;
	if (first != WAITFOR_NONE)
		lose(j, ranks, stay_ns, first, w->losts[first].lane, w->losts[first].need);
	rankset_destroy(ranks);
	return first != WAITFOR_NONE;
}

/* A message or token that a rank of the deadlock waits for, and a named one is to give. */
static bool is_owed(const struct waitfor_deadlock *deadlock, const struct waitfor_need *need)
{
	return (need->kind == WAITFOR_MESSAGE || need->kind == WAITFOR_TOKEN) && need->is_certain &&
	       need->peer >= 0 && rankset_contains(deadlock->ranks, need->peer);
}

/* How many needs of the deadlock `rank` (-1: anybody) owes, and the first of them. */
static size_t find_owed(const struct judge *j, const struct waitfor_deadlock *deadlock, int rank,
			uint32_t *lane_ret, uint32_t *need_ret)
{
	const struct waitfor *w = j->waitfor;
	size_t num = 0;

	for (size_t i = 0; i < deadlock->num_lanes; i++) {
		const struct waitfor_lane *lane = &w->lanes[deadlock->lanes[i]];

		for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++) {
			if (!is_owed(deadlock, &w->needs[n]) || w->needs[n].peer != rank)
				continue;
			if (num++ > 0)
				continue;
			*lane_ret = deadlock->lanes[i];
			*need_ret = n;
		}
	}
	return num;
}

/* Does it wait for a message itself? Then what it owes may be to come after that. */
static bool waits_for_message(const struct waitfor *w, uint32_t l)
{
	const struct waitfor_lane *lane = &w->lanes[l];

	for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++)
		if (w->needs[n].kind == WAITFOR_MESSAGE)
			return true;
	return false;
}

/* Is it known better who has not sent what is waited for? One that went on after a step that is
 * new may have done so for a reason of its own. */
static bool are_others_to_blame(const struct judge *j, const struct waitfor_deadlock *deadlock,
				enum verdict_senders which, uint32_t actor)
{
	uint32_t lane, need;
	struct rankset *senders;
	bool are_others;

	senders = verdict_find_senders(j, deadlock, which, &lane, &need);
	are_others = senders && !rankset_contains(senders, j->jm->lanes[actor].rank);
	rankset_destroy(senders);
	return are_others;
}

static bool stands_after(const struct judge *j, uint32_t actor, uint32_t transition)
{
	return j->jm->transitions[transition].to == j->jm->lanes[actor].state;
}

static bool is_send(const struct judge *j, uint32_t state)
{
	enum seg_class class = j->jm->sites[SEG_STATE_SITE(state)].class_id;

	return class == SEG_CLASS_SEND || class == SEG_CLASS_SENDRECV || class == SEG_CLASS_START;
}

/* The first of a deadlock that has left its course. */
struct departed {
	uint32_t actor;
	struct departure departure;
	size_t num_later;
	bool is_owed; /* it left out a message, and just one of its messages is waited for: */
	uint32_t lane, need;
};

/* False: there is none, or that one is hardly why the others wait. */
static bool find_first_departed(struct judge *j, const struct waitfor_deadlock *deadlock,
				enum departed_evidence evidence, struct departed *ret)
{
	ret->actor = verdict_find_departed(j, deadlock->lanes, deadlock->num_lanes, evidence,
					   &ret->departure, &ret->num_later);
	if (ret->actor == WAITFOR_NONE ||
	    (ret->departure.since > 0 &&
	     are_others_to_blame(j, deadlock, VERDICT_SENDERS_ANY, ret->actor)))
		return false;
	/* It waits since then, and others came to wait by a step that is as new: they have a
	 * part in it. */
	if (ret->departure.since == 0 && ret->num_later > 0)
		return false;
	ret->is_owed =
		is_send(j, ret->departure.usual) &&
		find_owed(j, deadlock, j->jm->lanes[ret->actor].rank, &ret->lane, &ret->need) == 1;
	return ret->is_owed ||
	       (evidence == DEPARTED_STRONG && ret->departure.since < DEPARTED_JUST_NOW);
}

/* One of them has left its course, before any other: that is where it went wrong. */
static bool find_departed(struct judge *j, const struct waitfor_deadlock *deadlock,
			  uint64_t stay_ns, uint32_t which, enum departed_evidence evidence)
{
	struct departed departed;
	struct rankset *ranks;

	if (!find_first_departed(j, deadlock, evidence, &departed))
		return false;
	ranks = rankset_create();
	rankset_add(ranks, j->jm->lanes[departed.actor].rank);
	if (departed.is_owed) {
		lose(j, ranks, stay_ns, WAITFOR_NONE, departed.lane, departed.need);
	} else {
		verdict_accuse(j, ranks, VERDICT_DEADLOCK, stay_ns);
		j->verdict->which = which;
	}
	verdict_set_departed(j, departed.actor, &departed.departure, departed.num_later);
	rankset_destroy(ranks);
	return true;
}

/* Had another one left its course, and with that left out a message, before the actor took the
 * step? */
static bool is_after_departure(struct judge *j, const struct waitfor_deadlock *deadlock,
			       uint32_t actor, uint32_t transition)
{
	struct departed departed;

	return find_first_departed(j, deadlock, DEPARTED_STRONG, &departed) &&
	       departed.actor != actor && departed.is_owed &&
	       verdict_is_departure_before(j, departed.actor, &departed.departure, actor,
					   transition);
}

/* Somebody took a step that is new to the job: that is where it went wrong. */
static bool find_novel(struct judge *j, const struct waitfor_deadlock *deadlock, uint64_t stay_ns,
		       uint32_t which)
{
	struct rankset *ranks;
	uint32_t transition, lane, need;
	uint32_t actor = verdict_find_novel(j, deadlock->lanes, deadlock->num_lanes, &transition);

	if (actor == WAITFOR_NONE || is_after_departure(j, deadlock, actor, transition) ||
	    (!stands_after(j, actor, transition) &&
	     are_others_to_blame(j, deadlock, VERDICT_SENDERS_ANY, actor)))
		return false;
	ranks = rankset_create();
	rankset_add(ranks, j->jm->lanes[actor].rank);
	if (!waits_for_message(j->waitfor, actor) &&
	    find_owed(j, deadlock, j->jm->lanes[actor].rank, &lane, &need) > 0) {
		lose(j, ranks, stay_ns, WAITFOR_NONE, lane, need);
	} else {
		verdict_accuse(j, ranks, VERDICT_DEADLOCK, stay_ns);
		j->verdict->which = which;
	}
	j->verdict->novel = transition;
	j->verdict->novel_rank = j->jm->lanes[actor].rank;
	rankset_destroy(ranks);
	return true;
}

/* Ranks have left out a collective that others of the deadlock wait in. */
static bool find_skipped(struct judge *j, const struct waitfor_deadlock *deadlock, uint64_t stay_ns,
			 uint32_t which, bool is_sure_only)
{
	bool is_likely;
	uint32_t collective;
	struct rankset *ranks =
		verdict_find_skipped(j, deadlock, is_sure_only, &collective, &is_likely);

	if (!ranks)
		return false;
	verdict_accuse(j, ranks, VERDICT_DEADLOCK, stay_ns);
	j->verdict->which = which;
	j->verdict->skipped = collective;
	j->verdict->is_likely = is_likely;
	rankset_destroy(ranks);
	return true;
}

/* Ranks have not sent what others of the deadlock wait for. */
static bool find_senders(struct judge *j, const struct waitfor_deadlock *deadlock, uint64_t stay_ns,
			 enum verdict_senders which)
{
	uint32_t lane, need;
	struct rankset *ranks = verdict_find_senders(j, deadlock, which, &lane, &need);

	if (!ranks)
		return false;
	lose(j, ranks, stay_ns, WAITFOR_NONE, lane, need);
	j->verdict->is_likely = true;
	rankset_destroy(ranks);
	return true;
}

/* Where any thread may call MPI, one that never did may come to help. */
static bool may_have_helpers(const struct judge *j, const struct waitfor_deadlock *deadlock)
{
	uint32_t first;

	for (size_t i = 0; i < deadlock->num_lanes; i++) {
		const struct job_lane *lane = &j->jm->lanes[deadlock->lanes[i]];

		if (lane->model->thread_level >= THREAD_MULTIPLE &&
		    waitfor_lanes_of(j->waitfor, lane->rank, &first) == 1)
			return true;
	}
	return false;
}

/* A send may be buffered though nobody receives it, and in some collectives a rank need not wait
 * for all that have not come: that it has been in there for long is what tells that it does wait.
 */
static bool may_still_end(const struct judge *j, uint32_t l)
{
	const struct waitfor *w = j->waitfor;
	const struct waitfor_lane *lane = &w->lanes[l];

	if (j->lanes[l].is_new || j->jm->lanes[l].stay_ns > j->lanes[l].longest_ns)
		return false;
	for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++) {
		uint32_t collective = waitfor_collective_of(w, w->needs[n].node);

		if (collective != WAITFOR_NONE ? !w->collectives[collective].needs_all
					       : w->needs[n].kind == WAITFOR_RECEIVE ||
							 w->needs[n].kind == WAITFOR_LOCK)
			return true;
	}
	return false;
}

static void judge_stuck(struct judge *j, uint32_t d, uint64_t stay_ns)
{
	const struct waitfor_deadlock *deadlock = &j->waitfor->deadlocks[d];

	if (!find_slip(j, deadlock, stay_ns, true) &&
	    !find_senders(j, deadlock, stay_ns, VERDICT_SENDERS_BY_MESSAGES) &&
	    !find_slip(j, deadlock, stay_ns, false) &&
	    !find_skipped(j, deadlock, stay_ns, d, true) && !find_novel(j, deadlock, stay_ns, d) &&
	    !find_departed(j, deadlock, stay_ns, d, DEPARTED_STRONG) &&
	    !find_departed(j, deadlock, stay_ns, d, DEPARTED_WEAK) &&
	    !find_skipped(j, deadlock, stay_ns, d, false) &&
	    !find_senders(j, deadlock, stay_ns, VERDICT_SENDERS_ALL)) {
		verdict_accuse(j, deadlock->ranks, VERDICT_DEADLOCK, stay_ns);
		j->verdict->which = d;
	}
}

/* The shortest stay of those in the deadlock; 0: it may still end by itself. */
static uint64_t deadlock_stay(const struct judge *j, const struct waitfor_deadlock *deadlock)
{
	uint64_t stay_ns = UINT64_MAX;

	for (size_t i = 0; i < deadlock->num_lanes; i++) {
		if (may_still_end(j, deadlock->lanes[i]))
			return 0;
		verdict_shorten(j, deadlock->lanes[i], &stay_ns);
	}
	return stay_ns;
}

static bool judge_deadlock(struct judge *j, uint32_t d)
{
	const struct waitfor_deadlock *deadlock = &j->waitfor->deadlocks[d];
	bool has_helpers = may_have_helpers(j, deadlock);
	uint64_t stay_ns = deadlock_stay(j, deadlock);

	if (stay_ns < (has_helpers ? VERDICT_HANG_NEW_NS : VERDICT_ACCUSE_NS))
		return false;
	judge_stuck(j, d, stay_ns);
	if (has_helpers) {
		j->verdict->is_likely = true;
		j->verdict->is_stuck = false;
	}
	return true;
}

/* Stuck ranks wait for some that no message comes from any more. */
static bool find_gone(struct judge *j)
{
	struct rankset *gone = waitfor_find_gone(j->waitfor);
	uint64_t stay_ns = UINT64_MAX;
	bool is_found;

	for (uint32_t l = 0; l < j->waitfor->num_lanes; l++)
		if (j->waitfor->lanes[l].is_stuck)
			verdict_shorten(j, l, &stay_ns);
	is_found = !rankset_is_empty(gone) && stay_ns >= VERDICT_ACCUSE_NS;
	if (is_found) {
		verdict_accuse(j, gone, VERDICT_LEFT, stay_ns);
		j->verdict->is_hang = stay_ns >= VERDICT_HANG_NS;
	}
	/* One that is gone altogether has no place. */
	if (is_found)
		rankset_add_set(j->verdict->culprits, gone);
	rankset_destroy(gone);
	return is_found;
}

bool verdict_find_deadlock(struct judge *j)
{
	if (!j->waitfor)
		return false;
	for (uint32_t d = 0; d < j->waitfor->num_deadlocks; d++)
		if (!j->waitfor->deadlocks[d].is_likely && judge_deadlock(j, d))
			return true;
	return find_gone(j);
}

static bool are_unusual(const struct judge *j, const struct waitfor_deadlock *deadlock)
{
	for (size_t i = 0; i < deadlock->num_lanes; i++)
		if (!verdict_is_unusual(j, deadlock->lanes[i]))
			return false;
	return true;
}

bool verdict_find_helpless(struct judge *j)
{
	const struct waitfor *w = j->waitfor;

	if (!w || w->num_deadlocks == 0 || w->deadlocks[0].is_likely ||
	    deadlock_stay(j, &w->deadlocks[0]) < VERDICT_ACCUSE_NS)
		return false;
	if (!are_unusual(j, &w->deadlocks[0]))
		return false;
	judge_stuck(j, 0, 0);
	verdict_weigh(j);
	j->verdict->is_likely = true;
	j->verdict->is_stuck = false;
	return true;
}

/* Ranks that poll for each other may do something else next; if they do not, those have gone
 * wrong that left out what others wait for. Where a step is new to the job, that tells more. */
bool verdict_find_polling(struct judge *j)
{
	const struct waitfor *w = j->waitfor;
	uint32_t novel, actor;

	for (uint32_t d = 0; w && d < w->num_deadlocks; d++) {
		const struct waitfor_deadlock *deadlock = &w->deadlocks[d];

		if (!deadlock->is_likely || !are_unusual(j, deadlock))
			continue;
		actor = verdict_find_novel(j, deadlock->lanes, deadlock->num_lanes, &novel);
		if (actor != WAITFOR_NONE && !is_after_departure(j, deadlock, actor, novel))
			continue;
		if (!find_departed(j, deadlock, 0, d, DEPARTED_STRONG) &&
		    !find_departed(j, deadlock, 0, d, DEPARTED_WEAK) &&
		    !find_skipped(j, deadlock, 0, d, false) &&
		    !find_senders(j, deadlock, 0, VERDICT_SENDERS_ALL))
			continue;
		verdict_weigh(j);
		j->verdict->is_likely = j->verdict->is_while_polling = true;
		j->verdict->is_stuck = false;
		return true;
	}
	return false;
}

/* ---- Where it is not known whether messages are on their way ---- */

static bool is_unsettled(const struct waitfor *w, uint32_t l)
{
	const struct waitfor_lane *lane = &w->lanes[l];
	bool has_any = false;

	for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++)
		has_any |= w->needs[n].kind == WAITFOR_MESSAGE && w->needs[n].peer < 0;
	return has_any && lane->state == WAITFOR_BLOCKED && lane->gap == WAITFOR_UNSETTLED;
}

/* Nobody moves: as if all who wait were in a deadlock. Where messages do not tell who has not
 * sent, a step that is new tells more than the order. */
static bool judge_unsettled(struct judge *j, const struct waitfor_deadlock *all)
{
	uint32_t transition;
	uint32_t actor = verdict_find_novel(j, all->lanes, all->num_lanes, &transition);

	if (!are_unusual(j, all))
		return false;
	if (!find_senders(j, all, 0, VERDICT_SENDERS_BY_MESSAGES) &&
	    ((actor != WAITFOR_NONE &&
	      (stands_after(j, actor, transition) ||
	       !are_others_to_blame(j, all, VERDICT_SENDERS_UNSETTLED, actor))) ||
	     !find_senders(j, all, 0, VERDICT_SENDERS_UNSETTLED)))
		return false;
	verdict_weigh(j);
	j->verdict->is_stuck = false;
	return true;
}

bool verdict_find_unsettled(struct judge *j)
{
	const struct waitfor *w = j->waitfor;
	struct waitfor_deadlock all = {0};
	bool has_some = false, is_found;

	if (!w)
		return false;
	all.ranks = rankset_create();
	all.lanes = xcalloc(w->num_lanes + 1, sizeof(*all.lanes));
	for (uint32_t l = 0; l < w->num_lanes; l++) {
		if (!j->lanes[l].is_waiting)
			continue;
		has_some |= is_unsettled(w, l);
		all.lanes[all.num_lanes++] = l;
		rankset_add(all.ranks, j->jm->lanes[l].rank);
	}
	is_found = has_some && judge_unsettled(j, &all);
	rankset_destroy(all.ranks);
	free(all.lanes);
	return is_found;
}

/* ---- Where waits end ---- */

static bool has_strong_need(const struct waitfor *w, const struct waitfor_lane *lane)
{
	for (uint32_t i = 0; i < lane->num_needs; i++)
		if (!w->needs[lane->first_need + i].is_weak)
			return true;
	return false;
}

/* Inside MPI, and nothing is missing for going on. */
static bool is_in_library(const struct waitfor *w, uint32_t l)
{
	const struct waitfor_lane *lane = &w->lanes[l];

	return lane->state == WAITFOR_BLOCKED && lane->gap == WAITFOR_COMPLETE &&
	       !has_strong_need(w, lane);
}

static bool is_unknown(const struct waitfor *w, uint32_t l)
{
	const struct waitfor_lane *lane = &w->lanes[l];

	return (lane->state == WAITFOR_BLOCKED || lane->state == WAITFOR_POLLS) &&
	       lane->gap != WAITFOR_COMPLETE && !has_strong_need(w, lane);
}

/* Everybody's waits end at transfers that do not finish. All who take part are named. Of a
 * collective that is not certain: others have ended what they count as this one, and have
 * perhaps left out an earlier one. */
bool verdict_find_library(struct judge *j)
{
	const struct waitfor *w = j->waitfor;
	bool is_collective = false;
	size_t num = 0;

	for (uint32_t l = 0; w && l < w->num_lanes; l++) {
		if (is_unknown(w, l) || w->lanes[l].is_likely_stuck)
			return false;
		j->is_candidate[l] = is_in_library(w, l);
		num += j->is_candidate[l];
	}
	if (num == 0)
		return false;
	for (uint32_t l = 0; l < w->num_lanes; l++)
		if (j->is_candidate[l] && !verdict_is_unusual(j, l))
			return false;
	for (uint32_t l = 0; l < w->num_lanes; l++)
		is_collective |= j->is_candidate[l] &&
				 j->jm->lanes[l].data->operation.kind == SEG_OPERATION_COLLECTIVE;
	if (is_collective && verdict_find_shifted(j))
		return true;
	verdict_weigh(j);
	verdict_name_culprits(j, VERDICT_LIBRARY);
	j->verdict->is_likely = is_collective;
	return true;
}

/* All the others wait in one collective for this one alone, which polls for what may come of any
 * of them: it is apart. WAITFOR_NONE: there is no such one. */
static uint32_t find_poller_apart(const struct waitfor *w, const struct waitfor_deadlock *deadlock)
{
	uint32_t poller = WAITFOR_NONE, collective = WAITFOR_NONE;

	for (size_t i = 0; i < deadlock->num_lanes; i++) {
		const struct waitfor_lane *lane = &w->lanes[deadlock->lanes[i]];
		uint32_t awaited;

		if (lane->state == WAITFOR_POLLS && poller == WAITFOR_NONE) {
			poller = deadlock->lanes[i];
			continue;
		}
		if (lane->state != WAITFOR_BLOCKED || lane->num_needs != 1)
			return WAITFOR_NONE;
		awaited = waitfor_collective_of(w, w->needs[lane->first_need].node);
		if (awaited == WAITFOR_NONE ||
		    (collective != WAITFOR_NONE && awaited != collective))
			return WAITFOR_NONE;
		collective = awaited;
	}
	return collective != WAITFOR_NONE && w->collectives[collective].needs_all &&
			       w->collectives[collective].num_missing == 1
		       ? poller
		       : WAITFOR_NONE;
}

void verdict_keep_ends(struct judge *j)
{
	const struct waitfor *w = j->waitfor;
	bool *is_end, is_likely = false;
	size_t num = 0;

	if (!w)
		return;
	is_end = xcalloc(w->num_lanes, sizeof(*is_end));
	for (size_t d = 0; d < w->num_deadlocks; d++) {
		const struct waitfor_deadlock *deadlock = &w->deadlocks[d];
		uint32_t poller = find_poller_apart(w, deadlock);

		is_likely |= deadlock->is_likely && deadlock->num_lanes > 0;
		for (size_t i = 0; i < deadlock->num_lanes; i++)
			is_end[deadlock->lanes[i]] =
				poller == WAITFOR_NONE || deadlock->lanes[i] == poller;
	}
	for (uint32_t l = 0; l < w->num_lanes; l++) {
		is_end[l] |= is_in_library(w, l) || is_unknown(w, l);
		num += is_end[l] && j->is_candidate[l];
	}
	for (uint32_t l = 0; num > 0 && l < w->num_lanes; l++)
		j->is_candidate[l] &= is_end[l];
	j->verdict->is_likely = is_likely;
	free(is_end);
}

void verdict_keep_awaited(struct judge *j)
{
	bool *is_awaited;
	size_t num = 0;

	if (!j->waitfor)
		return;
	is_awaited = waitfor_find_awaited(j->waitfor, NULL);
	for (size_t l = 0; l < j->jm->num_lanes; l++)
		num += is_awaited[l] && j->is_candidate[l];
	for (size_t l = 0; num > 0 && l < j->jm->num_lanes; l++)
		j->is_candidate[l] &= is_awaited[l];
	free(is_awaited);
}

void verdict_find_awaited(struct judge *j)
{
	struct rankset *ends[WAITFOR_NUM_ENDS], *awaited = j->verdict->awaited;
	bool is_all = true;

	if (!j->waitfor)
		return;
	free(waitfor_find_awaited(j->waitfor, ends));
	for (int e = 0; e < WAITFOR_NUM_ENDS; e++)
		is_all &= e == WAITFOR_END_MOVES || e == WAITFOR_END_OUTSIDE ||
			  rankset_is_empty(ends[e]);
	for (size_t l = 0; l < j->jm->num_lanes; l++)
		j->is_candidate[l] =
			is_all && j->lanes[l].is_static && !j->lanes[l].is_waiting &&
			rankset_contains(ends[WAITFOR_END_OUTSIDE], j->jm->lanes[l].rank);
	if (verdict_count_candidates(j) > 0)
		verdict_weigh(j);
	if (is_all) {
		rankset_add_set(awaited, ends[WAITFOR_END_MOVES]);
		rankset_add_set(awaited, ends[WAITFOR_END_OUTSIDE]);
	}
	for (int e = 0; e < WAITFOR_NUM_ENDS; e++)
		rankset_destroy(ends[e]);
}
