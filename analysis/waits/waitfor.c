/* SPDX-License-Identifier: BSD-3-Clause
 * The wait-for graph as a whole: what each lane does, and the order of the steps. */
#include <stdlib.h>
#include <string.h>

#include "analysis/progress/activity.h"
#include "analysis/waits/waitfor_private.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

/* ---- Ranks and lanes ---- */

/* All that anything refers to: ranks of lanes, communicators and holes. */
static size_t count_ranks(const struct job *job, const struct job_comms *comms)
{
	int highest = job->proctable ? job->proctable->size - 1 : -1;

	for (size_t i = 0; i < job->model->num_lanes; i++)
		if (job->model->lanes[i].rank > highest)
			highest = job->model->lanes[i].rank;
	for (size_t c = 0; c < comms->num_comms; c++)
		for (int side = 0; side < 2; side++)
			for (size_t i = 0; i < comms->comms[c].sizes[side]; i++)
				if (comms->comms[c].groups[side][i] > highest)
					highest = comms->comms[c].groups[side][i];
	for (size_t i = 0; i < job->num_holes; i++)
		if (job->holes[i].rank > highest)
			highest = job->holes[i].rank;
	return (size_t)(highest + 1);
}

static bool is_finalizing(const struct job_model *jm, const struct job_lane *lane)
{
	return lane->model->life == SEG_LIFE_FINALIZING ||
	       (!SEG_STATE_IS_EXIT(lane->state) &&
		jm->sites[SEG_STATE_SITE(lane->state)].class_id == SEG_CLASS_FINALIZE);
}

static enum waitfor_state state_of(const struct job_lane *lane)
{
	enum activity activity = activity_of_lane(lane);

	if (activity == ACTIVITY_ENDED || lane->model->life == SEG_LIFE_ABORTED)
		return WAITFOR_LEFT;
	/* Of a lane that moved while it was copied, requests and counts are of different moments.
	 */
	if (!activity_is_static(lane) || lane->data->last_events != lane->data->events)
		return WAITFOR_MOVES;
	if (activity == ACTIVITY_POLLING)
		return WAITFOR_POLLS;
	return activity == ACTIVITY_COMPUTING ? WAITFOR_OUTSIDE : WAITFOR_BLOCKED;
}

static void find_lanes(struct waitfor *w)
{
	struct waitfor_private *p = w->private;

	for (uint32_t l = 0; l < w->num_lanes; l++) {
		const struct job_lane *lane = &p->jm->lanes[l];
		struct rank_lanes *lanes = &p->ranks[lane->rank];

		w->lanes[l].state = (uint8_t)state_of(lane);
		if (lanes->num++ == 0) {
			lanes->first = l;
			p->is_static[lane->rank] = p->has_left[lane->rank] = true;
		}
		p->is_static[lane->rank] &= w->lanes[l].state != WAITFOR_MOVES;
		p->has_left[lane->rank] &=
			w->lanes[l].state == WAITFOR_LEFT ||
			(w->lanes[l].state != WAITFOR_MOVES && is_finalizing(p->jm, lane));
	}
	for (size_t i = 0; i < w->job->num_holes; i++)
		if (strcmp(w->job->holes[i].why, JOB_HOLE_ENDED) == 0)
			p->has_left[w->job->holes[i].rank] = true;
}

/* ---- Create and destroy ---- */

struct waitfor *waitfor_create(const struct job *job, const struct job_comms *comms)
{
	struct waitfor *w = xcalloc(1, sizeof(*w));
	struct waitfor_private *p = xcalloc(1, sizeof(*p));

	w->job = job;
	w->comms = comms;
	w->private = p;
	p->jm = job->model;
	w->num_lanes = p->jm->num_lanes;
	w->lanes = xcalloc(w->num_lanes, sizeof(*w->lanes));
	p->num_ranks = count_ranks(job, comms);
	p->ranks = xcalloc(p->num_ranks, sizeof(*p->ranks));
	p->has_left = xcalloc(p->num_ranks, sizeof(*p->has_left));
	p->is_static = xcalloc(p->num_ranks, sizeof(*p->is_static));
	p->unknown = xcalloc(comms->num_comms, sizeof(*p->unknown));
	p->is_any_used = xcalloc(comms->num_comms, sizeof(*p->is_any_used));
	p->ledgers = ledgers_create(p->jm, p->ranks, p->num_ranks);
	find_lanes(w);
	waitfor_find_collectives(w);
	waitfor_find_locks(w);
	p->first_rank = (uint32_t)w->num_lanes;
	p->first_collective = p->first_rank + (uint32_t)p->num_ranks;
	p->first_any = p->first_collective + (uint32_t)w->num_collectives;
	p->first_lock = p->first_any + (uint32_t)comms->num_comms;
	waitfor_find_needs(w);
	waitfor_settle_wildcards(w);
	waitfor_make_graph(w);
	waitfor_release(w);
	waitfor_find_mismatches(w);
	waitfor_find_deadlocks(w);
	waitfor_find_losts(w);
	return w;
}

static void destroy_private(struct waitfor *w)
{
	struct waitfor_private *p = w->private;

	for (size_t c = 0; c < w->comms->num_comms; c++)
		rankset_destroy(p->unknown[c]);
	ledgers_destroy(p->ledgers);
	free(p->unknown);
	free(p->ranks);
	free(p->has_left);
	free(p->is_static);
	free(p->is_any_used);
	free(p->collectives);
	free(p->missing);
	free(p->locks);
	free(p->holder_ranks);
	free(p->graph.first);
	free(p->graph.to);
	free(p->graph.mode);
	free(p->is_released);
	free(p->is_likely_released);
	free(p);
}

void waitfor_destroy(struct waitfor *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->num_mismatches; i++) {
		for (size_t k = 0; k < w->mismatches[i].num_parties; k++)
			rankset_destroy(w->mismatches[i].parties[k].ranks);
		free(w->mismatches[i].parties);
	}
	for (size_t i = 0; i < w->num_deadlocks; i++) {
		rankset_destroy(w->deadlocks[i].ranks);
		rankset_destroy(w->deadlocks[i].behind);
		free(w->deadlocks[i].lanes);
		free(w->deadlocks[i].cycle);
	}
	destroy_private(w);
	free(w->lanes);
	free(w->needs);
	free(w->collectives);
	free(w->mismatches);
	free(w->deadlocks);
	free(w->unreceived);
	free(w->losts);
	free(w);
}

/* ---- Asking it ---- */

uint32_t waitfor_collective_of(const struct waitfor *w, uint32_t node)
{
	const struct waitfor_private *p = w->private;

	return node >= p->first_collective && node < p->first_any ? node - p->first_collective
								  : WAITFOR_NONE;
}

int waitfor_rank_of(const struct waitfor *w, uint32_t node)
{
	const struct waitfor_private *p = w->private;

	if (node < p->first_rank)
		return p->jm->lanes[node].rank;
	return node < p->first_collective ? (int)(node - p->first_rank) : -1;
}

size_t waitfor_lanes_of(const struct waitfor *w, int rank, uint32_t *first_ret)
{
	if (rank < 0 || (size_t)rank >= w->private->num_ranks)
		return 0;
	*first_ret = w->private->ranks[rank].first;
	return w->private->ranks[rank].num;
}

static void add_any(const struct job_comm *comm, struct rankset *ranks)
{
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < comm->sizes[side]; i++)
			if (comm->groups[side][i] >= 0)
				rankset_add(ranks, comm->groups[side][i]);
}

static void add_holders(const struct waitfor_private *p, uint32_t index, struct rankset *ranks)
{
	for (; index != WAITFOR_NONE; index = p->locks[index].chain)
		for (size_t i = 0; i < p->locks[index].num_holders; i++)
			rankset_add(ranks, p->holder_ranks[p->locks[index].first_holder + i]);
}

uint32_t waitfor_find_need(const struct waitfor *w, uint32_t lane, uint32_t node)
{
	const struct waitfor_lane *from = &w->lanes[lane];
	uint32_t found = WAITFOR_NONE;

	for (uint32_t n = from->first_need; n < from->first_need + from->num_needs; n++) {
		if (w->needs[n].node != node)
			continue;
		if (w->needs[n].is_certain)
			return n;
		if (found == WAITFOR_NONE)
			found = n;
	}
	return found;
}

/* A need, and a lane that may have it. */
static int compare_needs(const void *key, const void *element)
{
	uint32_t need = *(const uint32_t *)key;
	const struct waitfor_lane *lane = element;

	if (need < lane->first_need)
		return -1;
	return need - lane->first_need >= lane->num_needs;
}

uint32_t waitfor_lane_of_need(const struct waitfor *w, uint32_t need)
{
	const struct waitfor_lane *lane =
		bsearch(&need, w->lanes, w->num_lanes, sizeof(*w->lanes), compare_needs);

	return (uint32_t)(lane - w->lanes);
}

struct rankset *waitfor_peers(const struct waitfor *w, uint32_t n)
{
	const struct waitfor_need *need = &w->needs[n];
	const struct waitfor_private *p = w->private;
	uint32_t collective = waitfor_collective_of(w, need->node);
	struct rankset *ranks;

	if (collective != WAITFOR_NONE)
		return waitfor_missing(w, collective, NULL);
	ranks = rankset_create();
	if (need->node >= p->first_lock) {
		add_holders(p, need->node - p->first_lock, ranks);
	} else if (need->node >= p->first_any) {
		add_any(&w->comms->comms[need->comm], ranks);
		rankset_remove(ranks, p->jm->lanes[waitfor_lane_of_need(w, n)].rank);
	} else {
		rankset_add(ranks, waitfor_rank_of(w, need->node));
	}
	return ranks;
}
