/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/evidence.h"
#include "model/arena.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"

/* All ranks that there may be: what refers to others is checked against it. */
static size_t count_ranks(const struct job *job)
{
	int highest = job->proctable ? job->proctable->size - 1 : -1;

	for (size_t i = 0; job->model && i < job->model->num_lanes; i++)
		if (job->model->lanes[i].rank > highest)
			highest = job->model->lanes[i].rank;
	for (size_t i = 0; i < job->samples->num_samples; i++)
		if (job->samples->samples[i].rank > highest)
			highest = job->samples->samples[i].rank;
	for (size_t i = 0; i < job->num_holes; i++)
		if (job->holes[i].rank > highest)
			highest = job->holes[i].rank;
	return (size_t)(highest + 1);
}

static enum activity activity_of(const struct job_lane *lane)
{
	enum activity activity = activity_of_lane(lane);

	if (activity == ACTIVITY_ENDED || lane->model->life == SEG_LIFE_ABORTED)
		return ACTIVITY_ENDED;
	return activity_is_static(lane) ? activity : ACTIVITY_MOVES;
}

static void add_lanes(struct evidence *e)
{
	const struct job_model *jm = e->job->model;

	for (size_t i = 0; i < e->num_lanes; i++) {
		const struct job_lane *lane = &jm->lanes[i];

		e->actors[e->num_actors++] = (struct actor){
			.rank = lane->rank,
			.is_main = lane->data->is_main,
			.activity = activity_of(lane),
			.is_torn = lane->data->last_events != lane->data->events,
			.stay_ns = activity_stay_ns(lane),
			.stack = stack_facts_get(e->stacks, lane->rank),
			.lane = lane,
		};
	}
}

/* A loop around polls is mostly in them, and else outside. */
static enum activity activity_of_stack(const struct stack_fact *fact)
{
	if (fact->is_polling)
		return ACTIVITY_POLLING;
	if (fact->num_outside == fact->num_samples)
		return ACTIVITY_COMPUTING;
	return fact->num_outside == 0 && !fact->has_moved ? ACTIVITY_IN_MPI : ACTIVITY_MOVES;
}

static void add_stacks(struct evidence *e)
{
	for (size_t rank = 0; rank < e->stacks->num_ranks; rank++) {
		const struct stack_fact *fact = &e->stacks->ranks[rank];

		/* Of a zombie, and of what the kernel lets nobody stop, there is no stack, and
		 * still it is known what it does. */
		if ((fact->num_samples == 0 && !fact->is_stopped && !fact->is_uninterruptible) ||
		    e->ranks[rank].num > 0)
			continue;
		e->actors[e->num_actors++] = (struct actor){
			.rank = (int)rank,
			.is_main = true,
			.activity = activity_of_stack(fact),
			.stay_ns = fact->span_ns,
			.stack = fact,
		};
	}
}

bool actor_is_finalizing(const struct actor *actor, const struct job *job)
{
	const struct job_lane *lane = actor->lane;

	if (!lane)
		return actor->activity == ACTIVITY_IN_MPI && actor->stack->is_finalizing;
	return lane->model->life == SEG_LIFE_FINALIZING ||
	       (!SEG_STATE_IS_EXIT(lane->state) &&
		job->model->sites[SEG_STATE_SITE(lane->state)].class_id == SEG_CLASS_FINALIZE);
}

static void find_ranks(struct evidence *e, uint32_t first)
{
	for (uint32_t i = first; i < e->num_actors; i++) {
		struct rank_actors *of = &e->ranks[e->actors[i].rank];

		if (of->num++ == 0)
			of->first = i;
	}
}

struct evidence *evidence_create(const struct job *job)
{
	struct arena *arena = arena_create();
	struct evidence *e = arena_alloc(arena, sizeof(*e));

	e->arena = arena;
	e->job = job;
	e->stacks = stack_facts_create(job, arena);
	e->num_ranks = count_ranks(job);
	e->ranks = arena_array(arena, e->num_ranks, sizeof(*e->ranks));
	e->num_lanes = job->model ? job->model->num_lanes : 0;
	e->actors = arena_array(arena, e->num_lanes + e->stacks->num_ranks, sizeof(*e->actors));
	e->ended = rankset_in(arena, rankset_create());
	for (size_t i = 0; i < job->num_holes; i++)
		if (strcmp(job->holes[i].why, JOB_HOLE_ENDED) == 0)
			rankset_add(e->ended, job->holes[i].rank);
	for (size_t i = 0; i < job->samples->num_samples; i++)
		e->has_queues |= job->samples->samples[i].queues != NULL;
	add_lanes(e);
	find_ranks(e, 0);
	add_stacks(e);
	find_ranks(e, (uint32_t)e->num_lanes);
	return e;
}

void evidence_destroy(struct evidence *e)
{
	if (e)
		arena_destroy(e->arena);
}
