/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/progress/eqgroup.h"
#include "analysis/progress/progress_private.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/pair_map.h"
#include "model/job/rankset.h"
#include "model/arena.h"
#include "model/sorted.h"

enum {
	/* A program that polls does so again within this time, or some of its usual periods. */
	POLL_RECENT_NS = 50 * 1000 * 1000,
	POLL_PERIODS = 3,
	STATIC_NS = 200 * 1000 * 1000, /* without a transition, with one look */
};

static bool is_polling(const struct job_lane *lane)
{
	const struct model_lane *data = lane->data;
	uint64_t now = lane->model->now_ns, period;

	if (data->in_poll || lane->has_polled)
		return true;
	if (data->polls == 0)
		return false;
	/* It may have been off the processor meanwhile, or computed only since its last poll. */
	if (now <= data->last_poll_ns)
		return true;
	period = data->last_poll_ns > data->since_ns
			 ? (data->last_poll_ns - data->since_ns) / data->polls
			 : 0;
	return now - data->last_poll_ns <= POLL_RECENT_NS ||
	       now - data->last_poll_ns <= POLL_PERIODS * period;
}

enum activity activity_of_lane(const struct job_lane *lane)
{
	if (lane->model->life == SEG_LIFE_FINALIZED || lane->data->has_ended)
		return ACTIVITY_ENDED;
	if (!SEG_STATE_IS_EXIT(lane->state))
		return ACTIVITY_IN_MPI;
	return is_polling(lane) ? ACTIVITY_POLLING : ACTIVITY_COMPUTING;
}

bool activity_is_static(const struct job_lane *lane)
{
	return lane->has_second_look ? !lane->has_moved : lane->stay_ns >= STATIC_NS;
}

uint64_t activity_stay_ns(const struct job_lane *lane)
{
	if (lane->data->polls == 0 || activity_of_lane(lane) != ACTIVITY_COMPUTING)
		return lane->stay_ns;
	return lane->model->now_ns - lane->data->last_poll_ns;
}

struct grouping {
	const struct progress *progress;
	struct eqgroups *result;
	size_t groups_capacity;
	struct pair_map *group_of; /* by the hash of a place, or the next free number after it */
};

/* The group of the actor's place and activity, added if new. */
static uint32_t find_group(struct grouping *g, uint32_t actor, enum activity activity)
{
	struct eqgroups *result = g->result;
	const struct job_lane *lane = &g->progress->jm->lanes[actor];
	uint64_t key = progress_hash_place(g->progress, actor) + activity;
	struct eqgroup *group;
	uint32_t known;

	for (; (known = pair_map_get(g->group_of, key)) != PAIR_NONE; key++) {
		group = &result->groups[known];
		if (group->activity == activity &&
		    progress_compare(g->progress, group->actors[0], actor) == PROGRESS_SAME)
			return known;
	}
	*ARENA_PUSH(g->progress->arena, result->groups, result->num_groups, g->groups_capacity) =
		(struct eqgroup){
			.ranks = rankset_in(g->progress->arena, rankset_create()),
			.role = lane->role,
			.state = lane->state,
			.activity = activity,
			.place = &g->progress->places[actor],
			.stay_min_ns = UINT64_MAX,
		};
	pair_map_add(g->group_of, key, (uint32_t)result->num_groups - 1);
	return (uint32_t)result->num_groups - 1;
}

static void add_actor(struct grouping *g, uint32_t actor)
{
	const struct job_lane *lane = &g->progress->jm->lanes[actor];
	uint32_t index = find_group(g, actor, activity_of_lane(lane));
	struct eqgroup *group = &g->result->groups[index];
	uint64_t stay_ns = activity_stay_ns(lane);

	*ARENA_PUSH(g->progress->arena, group->actors, group->num_actors, group->actors_capacity) =
		actor;
	group->has_moved |= lane->has_second_look && lane->has_moved;
	if (stay_ns < group->stay_min_ns)
		group->stay_min_ns = stay_ns;
	if (stay_ns > group->stay_max_ns)
		group->stay_max_ns = stay_ns;
}

/* Ranks come in ascending order: add them as ranges. */
static void fill_ranks(const struct job_model *jm, struct eqgroup *group)
{
	size_t i = 0;

	while (i < group->num_actors) {
		int first = jm->lanes[group->actors[i]].rank, last = first;

		while (++i < group->num_actors && jm->lanes[group->actors[i]].rank <= last + 1)
			last = jm->lanes[group->actors[i]].rank;
		rankset_add_range(group->ranks, first, last);
	}
}

static int compare_groups(const void *a, const void *b)
{
	const struct eqgroup *x = a, *y = b;

	return SORTED_ORDER(rankset_count(y->ranks), rankset_count(x->ranks))
		       ?: SORTED_ORDER(x->actors[0], y->actors[0]);
}

struct eqgroups *eqgroups_create(const struct progress *progress)
{
	const struct job_model *jm = progress->jm;
	struct arena *arena = progress->arena;
	struct eqgroups *result = arena_alloc(arena, sizeof(*result));
	struct grouping g = {progress, result, 0, pair_map_in(arena)};

	result->progress = progress;
	result->group_of = arena_array(arena, jm->num_lanes, sizeof(*result->group_of));
	for (size_t i = 0; i < jm->num_lanes; i++)
		add_actor(&g, (uint32_t)i);
	for (size_t i = 0; i < result->num_groups; i++)
		fill_ranks(jm, &result->groups[i]);
	sorted_make(result->groups, result->num_groups, sizeof(*result->groups), compare_groups);
	for (uint32_t i = 0; i < result->num_groups; i++)
		for (size_t a = 0; a < result->groups[i].num_actors; a++)
			result->group_of[result->groups[i].actors[a]] = i;
	return result;
}
