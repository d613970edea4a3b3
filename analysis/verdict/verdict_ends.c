/* SPDX-License-Identifier: BSD-3-Clause
 * Where waits end: in the library, at what is not known, at those that move or compute. */
#include "analysis/verdict/verdict_private.h"

/* Inside MPI, and nothing is missing for going on. */
static bool is_in_library(const struct waitfor *w, uint32_t l)
{
	return w->evidence->actors[l].activity == ACTIVITY_IN_MPI &&
	       w->actors[l].gap == WAITFOR_COMPLETE && !waitfor_has_strong_need(w, l);
}

static bool is_unknown(const struct waitfor *w, uint32_t l)
{
	return actor_is_waiting(&w->evidence->actors[l]) && w->actors[l].gap != WAITFOR_COMPLETE &&
	       !waitfor_has_strong_need(w, l);
}

/* Everybody's waits end at transfers that do not finish. All who take part are named. Not certain
 * in a collective: others have ended this one, and perhaps left out an earlier one. */
bool verdict_find_library(struct judge *j)
{
	const struct waitfor *w = j->waitfor;
	bool is_collective = false;
	size_t num = 0;

	for (uint32_t l = 0; w && l < w->num_actors; l++) {
		if (is_unknown(w, l) || w->actors[l].is_likely_stuck)
			return false;
		j->is_candidate[l] = is_in_library(w, l);
		num += j->is_candidate[l];
	}
	if (num == 0)
		return false;
	for (uint32_t l = 0; l < w->num_actors; l++) {
		if (j->is_candidate[l] && !verdict_is_unusual(j, l))
			return false;
		is_collective |=
			j->is_candidate[l] && j->actors[l].lane &&
			j->actors[l].lane->data->operation.kind == SEG_OPERATION_COLLECTIVE;
	}
	if (is_collective && verdict_find_shifted(j))
		return true;
	verdict_weigh(j);
	verdict_name_culprits(j, VERDICT_LIBRARY);
	if (is_collective)
		verdict_doubt(j, DOUBT_EARLIER);
	return true;
}

/* The one for which alone all others wait in one collective, while it polls; or WAITFOR_NONE. */
static uint32_t find_poller_apart(const struct waitfor *w, const struct waitfor_deadlock *deadlock)
{
	uint32_t poller = WAITFOR_NONE, collective = WAITFOR_NONE;

	for (size_t i = 0; i < deadlock->num_actors; i++) {
		const struct waitfor_actor *lane = &w->actors[deadlock->actors[i]];
		enum activity activity = w->evidence->actors[deadlock->actors[i]].activity;
		uint32_t awaited;

		if (activity == ACTIVITY_POLLING && poller == WAITFOR_NONE) {
			poller = deadlock->actors[i];
			continue;
		}
		if (activity != ACTIVITY_IN_MPI || lane->num_needs != 1)
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
	bool *is_end = arena_array(j->arena, j->num_actors, sizeof(*is_end)), is_likely = false;

	if (!w)
		return;
	for (size_t d = 0; d < w->num_deadlocks; d++) {
		const struct waitfor_deadlock *deadlock = &w->deadlocks[d];
		uint32_t poller = find_poller_apart(w, deadlock);

		is_likely |= deadlock->is_likely && deadlock->num_actors > 0;
		for (size_t i = 0; i < deadlock->num_actors; i++)
			is_end[deadlock->actors[i]] =
				poller == WAITFOR_NONE || deadlock->actors[i] == poller;
	}
	for (uint32_t l = 0; l < w->num_actors; l++)
		is_end[l] |= is_in_library(w, l) || is_unknown(w, l);
	verdict_keep_if_any(j, is_end);
	if (is_likely)
		verdict_doubt(j, j->verdict->is_read ? DOUBT_UNCOUNTED : DOUBT_POLLING);
}

void verdict_keep_awaited(struct judge *j)
{
	struct rankset *ends[WAITFOR_NUM_ENDS];

	if (j->waitfor)
		verdict_keep_if_any(j, waitfor_find_awaited(j->waitfor, ends, j->arena));
}

static void find_awaited_by_waits(struct judge *j)
{
	struct rankset *ends[WAITFOR_NUM_ENDS];

	if (!j->waitfor)
		return;
	waitfor_find_awaited(j->waitfor, ends, j->arena);
	for (int e = 0; e < WAITFOR_NUM_ENDS; e++)
		if (e != WAITFOR_END_MOVES && e != WAITFOR_END_OUTSIDE &&
		    !rankset_is_empty(ends[e]))
			return;
	for (size_t l = 0; l < j->num_actors; l++)
		j->is_candidate[l] = j->facts[l].is_static && !j->facts[l].is_waiting &&
				     rankset_contains(ends[WAITFOR_END_OUTSIDE], j->actors[l].rank);
	if (verdict_count_candidates(j) > 0)
		verdict_weigh(j);
	rankset_add_set(j->verdict->awaited, ends[WAITFOR_END_MOVES]);
	rankset_add_set(j->verdict->awaited, ends[WAITFOR_END_OUTSIDE]);
}

/* While a job starts or ends, who does not move and has not come there. */
static void find_late(struct judge *j)
{
	for (size_t i = 0; i < j->num_actors; i++)
		if (j->facts[i].is_static && j->actors[i].activity == ACTIVITY_COMPUTING &&
		    !rankset_contains(j->verdict->moving, j->actors[i].rank))
			rankset_add(j->verdict->awaited, j->actors[i].rank);
}

void verdict_find_awaited(struct judge *j)
{
	find_awaited_by_waits(j);
	if (j->verdict->is_edge && rankset_is_empty(j->verdict->awaited))
		find_late(j);
}
