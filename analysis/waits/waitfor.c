/* SPDX-License-Identifier: BSD-3-Clause
 * The wait-for graph as a whole: what each lane does, and the order of the steps. */
#include "analysis/progress/eqgroup.h"
#include "analysis/waits/waitfor_private.h"
#include "model/job/proctable.h"

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
	/* If it moved while it was copied, requests and counts are of different moments. */
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

struct waitfor *waitfor_create(const struct job *job, const struct job_comms *comms)
{
	struct arena *arena = arena_create();
	struct waitfor *w = arena_alloc(arena, sizeof(*w));
	struct waitfor_private *p = arena_alloc(arena, sizeof(*p));

	w->job = job;
	w->comms = comms;
	w->private = p;
	p->arena = arena;
	p->jm = job->model;
	w->num_lanes = p->jm->num_lanes;
	w->lanes = arena_array(arena, w->num_lanes, sizeof(*w->lanes));
	p->num_ranks = count_ranks(job, comms);
	p->ranks = arena_array(arena, p->num_ranks, sizeof(*p->ranks));
	p->has_left = arena_array(arena, p->num_ranks, sizeof(*p->has_left));
	p->is_static = arena_array(arena, p->num_ranks, sizeof(*p->is_static));
	p->unknown = arena_array(arena, comms->num_comms, sizeof(*p->unknown));
	p->is_any_used = arena_array(arena, comms->num_comms, sizeof(*p->is_any_used));
	p->ledgers = ledgers_create(p->jm, p->ranks, p->num_ranks, arena);
	find_lanes(w);
	waitfor_find_collectives(w);
	waitfor_find_locks(w);
	p->first_rank = (uint32_t)w->num_lanes;
	p->first_collective = p->first_rank + (uint32_t)p->num_ranks;
	p->first_any = p->first_collective + (uint32_t)w->num_collectives;
	p->first_lock = p->first_any + (uint32_t)comms->num_comms;
	waitfor_find_needs(w);
	waitfor_settle_wildcards(w);
	waitfor_find_stuck(w);
	waitfor_find_mismatches(w);
	waitfor_find_losts(w);
	return w;
}

void waitfor_destroy(struct waitfor *w)
{
	if (w)
		arena_destroy(w->private->arena);
}
