/* SPDX-License-Identifier: BSD-3-Clause
 * The wait-for graph as a whole: what each lane does, and the order of the steps. */
#include "analysis/waits/waitfor_private.h"

/* All that anything refers to: actors, members of communicators, and holes. */
static size_t count_ranks(const struct evidence *evidence, const struct job_comms *comms)
{
	int highest = (int)evidence->num_ranks - 1;

	for (size_t c = 0; c < comms->num_comms; c++)
		for (int side = 0; side < 2; side++)
			for (size_t i = 0; i < comms->comms[c].sizes[side]; i++)
				if (comms->comms[c].groups[side][i] > highest)
					highest = comms->comms[c].groups[side][i];
	return (size_t)(highest + 1);
}

static void find_actors(struct waitfor *w)
{
	struct waitfor_private *p = w->private;

	for (uint32_t l = 0; l < w->num_actors; l++) {
		const struct actor *actor = &w->evidence->actors[l];

		if (l == w->evidence->ranks[actor->rank].first)
			p->is_static[actor->rank] = p->has_left[actor->rank] = true;
		if (l < p->num_lanes)
			p->ranks[actor->rank] = w->evidence->ranks[actor->rank];
		p->is_static[actor->rank] &= actor->activity != ACTIVITY_MOVES && !actor->is_torn;
		p->has_left[actor->rank] &=
			actor->activity == ACTIVITY_ENDED ||
			(actor->activity != ACTIVITY_MOVES && actor_is_finalizing(actor, w->job));
	}
	for (int rank = rankset_first(w->evidence->ended); rank >= 0;
	     rank = rankset_next(w->evidence->ended, rank))
		p->has_left[rank] = true;
}

struct waitfor *waitfor_create(const struct evidence *evidence, const struct job_comms *comms)
{
	static const struct job_comms none;
	struct arena *arena = arena_create();
	struct waitfor *w = arena_alloc(arena, sizeof(*w));
	struct waitfor_private *p = arena_alloc(arena, sizeof(*p));

	w->job = evidence->job;
	w->evidence = evidence;
	w->comms = comms = comms ?: &none;
	w->private = p;
	p->arena = arena;
	p->jm = w->job->model;
	p->num_lanes = (uint32_t)evidence->num_lanes;
	w->num_actors = evidence->num_actors;
	w->actors = arena_array(arena, w->num_actors, sizeof(*w->actors));
	p->num_ranks = count_ranks(evidence, comms);
	p->ranks = arena_array(arena, p->num_ranks, sizeof(*p->ranks));
	p->has_left = arena_array(arena, p->num_ranks, sizeof(*p->has_left));
	p->is_static = arena_array(arena, p->num_ranks, sizeof(*p->is_static));
	p->unknown = arena_array(arena, comms->num_comms, sizeof(*p->unknown));
	p->is_any_used = arena_array(arena, comms->num_comms, sizeof(*p->is_any_used));
	p->ledgers = ledgers_create(p->jm, p->ranks, p->num_ranks, arena);
	find_actors(w);
	waitfor_find_collectives(w);
	waitfor_find_locks(w);
	p->first_rank = (uint32_t)w->num_actors;
	p->first_collective = p->first_rank + (uint32_t)p->num_ranks;
	p->first_any = p->first_collective + (uint32_t)w->num_collectives;
	p->first_lock = p->first_any + (uint32_t)comms->num_comms;
	waitfor_find_arrivals(w);
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
