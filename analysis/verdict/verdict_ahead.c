/* SPDX-License-Identifier: BSD-3-Clause
 * Who is further, whoever tells it: the progress order of models, the temporal order of stacks, or
 * a message of an exchange. */
#include "analysis/progress/progress.h"
#include "analysis/stacks/temporal.h"
#include "analysis/verdict/verdict_private.h"
#include "model/job/callpath.h"
#include "model/job/names.h"
#include "model/job/sample.h"

static bool is_further_by_stacks(const struct judge *j, int rank, int other)
{
	uint32_t a, b;

	if (!j->order)
		return false;
	a = j->order_group[rank];
	b = j->order_group[other];
	return a != UINT32_MAX && b != UINT32_MAX && a != b &&
	       temporal_order_of(j->order, b, a, NULL) == TEMPORAL_BEFORE;
}

/* A message of a's that b has not come to receive tells of an exchange if a waits for one like it:
 * who asks a question sends one tag and waits for another. */
static bool has_sent_like(const struct judge *j, uint32_t a, int other)
{
	const struct waitfor_arrival *arrivals;
	size_t num = waitfor_arrivals_of(j->waitfor, j->actors[a].rank, false, &arrivals);

	for (size_t i = 0; i < num; i++) {
		const struct waitfor_need *need = NULL;

		if (arrivals[i].destination != other)
			continue;
		while ((need = waitfor_next_need(j->waitfor, a, need)))
			if (need->kind == WAITFOR_MESSAGE && need->tag == arrivals[i].tag)
				return true;
	}
	return false;
}

enum ahead verdict_ahead(const struct judge *j, uint32_t a, uint32_t b)
{
	const struct actor *first = &j->actors[a], *second = &j->actors[b];

	if (first->lane && second->lane && j->groups->progress)
		return progress_compare(j->groups->progress, a, b) == PROGRESS_MORE ? AHEAD_BY_ORDER
										    : AHEAD_NOT;
	if (has_sent_like(j, a, second->rank))
		return AHEAD_BY_MESSAGE;
	return first->is_main && second->is_main &&
			       is_further_by_stacks(j, first->rank, second->rank)
		       ? AHEAD_BY_ORDER
		       : AHEAD_NOT;
}

/* ---- Exchanges of messages, by counts ---- */

static bool has_visited(const struct judge *j, int rank, uint32_t state)
{
	struct rankset **visitors = &j->visitors[state];

	if (!*visitors) {
		*visitors = rankset_in(j->arena, rankset_create());
		for (size_t t = 0; t < j->jm->num_transitions; t++) {
			const struct job_transition *way = &j->jm->transitions[t];

			for (size_t i = 0; way->to == state && i < way->num_counts; i++)
				rankset_add_set(*visitors, way->counts[i].ranks);
		}
	}
	return rankset_contains(*visitors, rank);
}

static bool waits_for_tag(const struct judge *j, uint32_t l, int peer, int32_t tag)
{
	for (const struct waitfor_need *need = NULL;
	     (need = waitfor_next_need(j->waitfor, l, need));)
		if ((need->peer < 0 || need->peer == peer) &&
		    (need->kind == WAITFOR_RECEIVE || need->tag == tag))
			return true;
	return false;
}

bool verdict_is_before_exchange(const struct judge *j, uint32_t l, int peer, uint32_t comm)
{
	const struct waitfor *w = j->waitfor;

	for (size_t i = 0; i < w->num_unreceived; i++) {
		const struct waitfor_unreceived *message = &w->unreceived[i];

		if (message->source == j->actors[l].rank && message->destination == peer &&
		    message->comm == comm &&
		    (waits_for_tag(j, l, peer, message->tag) ||
		     (j->actors[l].lane && has_visited(j, peer, j->actors[l].lane->state))))
			return true;
	}
	return false;
}

/* ---- Who gets on, by variables ---- */

/* Is it inside a function that asks MPI whether something has come? */
static bool is_polling(const struct job *job, uint32_t path)
{
	for (; path != CALLPATH_NONE; path = callpaths_get(job->callpaths, path)->parent)
		if (names_is_poll(job->names, path))
			return true;
	return false;
}

/* Are others in MPI from within the loop? Then who is in another iteration was there meanwhile. */
static bool is_loop_of_waiting(const struct judge *j, const struct temporal_loop *loop)
{
	const struct rankset *waiting = j->verdict->waiting;

	for (int rank = rankset_first(waiting); rank >= 0; rank = rankset_next(waiting, rank)) {
		const struct sample *sample = samples_find(j->job->samples, rank, 0);

		if (sample && sample->path != CALLPATH_NONE &&
		    temporal_is_in_loop(j->order->temporal, loop, sample->path))
			return true;
	}
	return false;
}

/* Did the rank go on between the samples? Asking again and again, or computing, is no going on. */
static bool has_moved(const struct judge *j, const struct sample *before,
		      const struct sample *after)
{
	const struct temporal *temporal = j->order->temporal;
	struct temporal_reason reason;

	if (!before->num_values || !after->num_values ||
	    !temporal_has_moved(temporal, before, after, &reason))
		return false;
	if (!rankset_contains(j->verdict->waiting, before->rank))
		return is_loop_of_waiting(j, reason.loop);
	return !is_polling(j->job, after->path) ||
	       !temporal_is_innermost_loop(temporal, reason.loop, after->path);
}

struct rankset *verdict_find_moving(const struct judge *j)
{
	const struct samples *samples = j->job->samples;
	struct rankset *moving = rankset_in(j->arena, rankset_create());
	const struct sample *before = NULL;

	for (size_t i = 0; j->order && i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		if (!sample->is_main)
			continue;
		if (before && before->rank == sample->rank && has_moved(j, before, sample))
			rankset_add(moving, sample->rank);
		before = sample;
	}
	return moving;
}
