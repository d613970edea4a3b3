/* SPDX-License-Identifier: BSD-3-Clause
 * The graph of what lanes need, who is released in it, and the deadlocks. */
#include "analysis/waits/waitfor_private.h"

/* Lanes from which a shortest cycle is looked for. */
enum { MAX_STARTS = 16 };

/* The needs that hold a lane up, and how: analysis/waits/waitfor.h, struct waitfor_need. */
static enum wait_mode add_needs(const struct waitfor *w, uint32_t l)
{
	const struct waitfor_actor *lane = &w->actors[l];
	bool has_certain = false, has_weak = false, takes_all;

	for (const struct waitfor_need *need = NULL; (need = waitfor_next_need(w, l, need));) {
		has_certain |= need->is_certain;
		has_weak |= need->is_weak;
	}
	takes_all = !lane->is_or && has_certain;
	/* Without a certain one it may wait for any of the others, or for what is not known. */
	if (!takes_all && (lane->gap != WAITFOR_COMPLETE || has_weak || lane->num_needs == 0))
		return WAIT_FREE;
	for (const struct waitfor_need *need = NULL; (need = waitfor_next_need(w, l, need));)
		if (!takes_all || need->is_certain)
			wait_graph_add_edge(w->private->graph, need->node);
	if (w->evidence->actors[l].activity == ACTIVITY_POLLING)
		return takes_all ? WAIT_POLLS_ALL : WAIT_POLLS_ANY;
	return takes_all ? WAIT_ALL : WAIT_ANY;
}

static enum wait_mode add_lane(const struct waitfor *w, uint32_t l)
{
	enum activity activity = w->evidence->actors[l].activity;

	if (activity == ACTIVITY_ENDED)
		return WAIT_ANY;
	if (activity == ACTIVITY_COMPUTING && w->actors[l].num_needs == 0)
		return WAIT_FREE;
	return activity == ACTIVITY_MOVES ? WAIT_FREE : add_needs(w, l);
}

static enum wait_mode add_rank(const struct waitfor *w, int rank)
{
	uint32_t first = waitfor_first_actor(w, rank);

	if (w->private->has_left[rank])
		return WAIT_ANY;
	/* From a thread that has ended nothing comes, so there is no way on from there either. */
	for (uint32_t l = first; waitfor_is_actor_of(w, l, rank); l++)
		if (w->evidence->actors[l].activity != ACTIVITY_ENDED)
			wait_graph_add_edge(w->private->graph, l);
	return first == WAITFOR_NONE ? WAIT_FREE : WAIT_ANY;
}

/* Of a collective that not all need: those of whom nothing is counted may have its parts, too. What
 * is behind an earlier one has them already. */
static void add_unknown(const struct waitfor *w, const struct waitfor_collective *collective)
{
	const struct waitfor_private *p = w->private;
	const struct rankset *ranks =
		collective->num_unknown > 0 ? p->unknown[collective->comm] : NULL;

	for (int r = ranks ? rankset_first(ranks) : -1; r >= 0; r = rankset_next(ranks, r))
		if (!p->has_left[r])
			wait_graph_add_edge(p->graph, p->first_rank + (uint32_t)r);
}

static enum wait_mode add_group(const struct waitfor *w, uint32_t node)
{
	const struct waitfor_private *p = w->private;
	const struct group_node *group = waitfor_group_of(w, node);
	uint32_t collective = waitfor_collective_of(w, node);

	if (group->may_go_on || (collective != WAITFOR_NONE && group->num_all == 0))
		return WAIT_FREE;
	for (size_t i = 0; i < group->num_ranks; i++)
		wait_graph_add_edge(p->graph, p->first_rank + (uint32_t)group->ranks[i]);
	if (group->num_all > group->num_ranks)
		wait_graph_add_edge(p->graph, node - group->back);
	else if (collective != WAITFOR_NONE && !w->collectives[collective].needs_all)
		add_unknown(w, &w->collectives[collective]);
	return collective != WAITFOR_NONE && w->collectives[collective].needs_all ? WAIT_ALL
										  : WAIT_ANY;
}

/* The members of communicators that somebody receives from any of. */
static void find_any(struct waitfor *w)
{
	struct waitfor_private *p = w->private;

	p->any = arena_array(p->arena, w->comms->num_comms, sizeof(*p->any));
	for (size_t c = 0; c < w->comms->num_comms; c++) {
		const struct job_comm *comm = &w->comms->comms[c];
		struct group_node *any = &p->any[c];
		int *ranks;

		any->may_go_on = !p->is_any_used[c];
		if (any->may_go_on)
			continue;
		any->ranks = ranks =
			arena_array(p->arena, comm->sizes[0] + comm->sizes[1], sizeof(*ranks));
		for (int side = 0; side < 2; side++)
			for (size_t i = 0; i < comm->sizes[side]; i++)
				if (comm->groups[side][i] >= 0)
					ranks[any->num_ranks++] = comm->groups[side][i];
				else
					any->may_go_on = true;
		any->num_all = any->num_ranks;
	}
}

static void make_graph(struct waitfor *w)
{
	struct waitfor_private *p = w->private;
	uint32_t num_nodes = p->first_lock + (uint32_t)p->num_locks;

	find_any(w);
	p->graph = wait_graph_create(p->arena, num_nodes);
	for (uint32_t n = 0; n < num_nodes; n++)
		wait_graph_end_node(p->graph, n < p->first_rank ? add_lane(w, n)
					      : n < p->first_collective
						      ? add_rank(w, (int)(n - p->first_rank))
						      : add_group(w, n));
}

bool waitfor_can_do_without(const struct waitfor *w, const bool *is_lane_held)
{
	const bool *is_released =
		wait_graph_release(w->private->graph, true, is_lane_held, w->num_actors);
	size_t num_waiting = 0;

	for (size_t l = 0; l < w->num_actors; l++) {
		if (!actor_is_waiting(&w->evidence->actors[l]))
			continue;
		if (w->private->graph->mode[l] == WAIT_FREE || !is_released[l])
			return false;
		num_waiting++;
	}
	return num_waiting > 0;
}

/* Not from a receive from any rank to the receiver, who is one of the senders that would do. */
static bool is_of_others(const void *context, uint32_t start, const struct wait_way *last,
			 const struct wait_way *next)
{
	const struct waitfor *w = context;
	const struct waitfor_private *p = w->private;

	return next->from < p->first_any || next->from >= p->first_lock || last->from != start ||
	       next->to != p->first_rank + (uint32_t)w->evidence->actors[start].rank;
}

/* One of the shortest, that goes by its own messages only if there is no other. */
static void find_cycle(const struct waitfor *w, struct wait_knots *knots,
		       struct waitfor_deadlock *deadlock)
{
	size_t num_starts = deadlock->num_actors < MAX_STARTS ? deadlock->num_actors : MAX_STARTS;
	struct wait_way *way;
	size_t length =
		wait_knots_circle(knots, deadlock->actors, num_starts, is_of_others, w, &way);

	if (length == 0)
		length = wait_knots_circle(knots, deadlock->actors, num_starts, NULL, NULL, &way);
	deadlock->cycle = arena_array(w->private->arena, length, sizeof(*deadlock->cycle));
	for (size_t i = 0; i < length; i++)
		if (way[i].from < w->private->first_rank)
			deadlock->cycle[deadlock->num_cycle++] = (struct waitfor_step){
				.actor = way[i].from,
				.rank = w->evidence->actors[way[i].from].rank,
				.need = waitfor_find_need(w, way[i].from, way[i].to),
			};
}

static void fill_deadlock(const struct waitfor *w, struct wait_knots *knots, uint32_t k,
			  bool is_likely, struct waitfor_deadlock *deadlock)
{
	const struct waitfor_private *p = w->private;
	const struct wait_knot *knot = &knots->knots[k];

	*deadlock = (struct waitfor_deadlock){
		.ranks = rankset_in(p->arena, rankset_create()),
		.behind = rankset_in(p->arena, rankset_create()),
		.actors = arena_array(p->arena, knot->num_nodes, sizeof(*deadlock->actors)),
		.is_likely = is_likely,
	};
	for (size_t i = 0; i < knot->num_nodes; i++) {
		if (knot->nodes[i] >= p->first_rank)
			continue;
		deadlock->actors[deadlock->num_actors++] = knot->nodes[i];
		rankset_add(deadlock->ranks, w->evidence->actors[knot->nodes[i]].rank);
	}
	sorted_make(deadlock->actors, deadlock->num_actors, sizeof(*deadlock->actors),
		    sorted_compare_u32);
	find_cycle(w, knots, deadlock);
	deadlock->is_sure = true;
	for (size_t i = 0; i < deadlock->num_actors; i++)
		for (const struct waitfor_need *need = NULL;
		     (need = waitfor_next_need(w, deadlock->actors[i], need));)
			deadlock->is_sure &= need->is_certain || !need->is_read;
}

static void add_deadlocks(struct waitfor *w, const bool *is_released, bool is_likely)
{
	const struct waitfor_private *p = w->private;
	struct arena *scratch = arena_create();
	struct wait_knots *knots = wait_graph_find_knots(p->graph, is_released, is_likely, scratch);
	struct waitfor_deadlock *deadlocks =
		arena_array(p->arena, w->num_deadlocks + knots->num_knots, sizeof(*deadlocks));
	struct waitfor_deadlock *added = deadlocks + w->num_deadlocks;

	for (size_t i = 0; i < w->num_deadlocks; i++)
		deadlocks[i] = w->deadlocks[i];
	for (uint32_t k = 0; k < knots->num_knots; k++)
		fill_deadlock(w, knots, k, is_likely, &added[k]);
	/* Stuck ranks that are in none wait for one. */
	for (uint32_t l = 0; l < w->num_actors; l++) {
		const struct waitfor_deadlock *deadlock;

		if (is_released[l] || knots->knot_of[l] == UINT32_MAX)
			continue;
		deadlock = &added[knots->knot_of[l]];
		if (!rankset_contains(deadlock->ranks, w->evidence->actors[l].rank))
			rankset_add(deadlock->behind, w->evidence->actors[l].rank);
	}
	w->deadlocks = deadlocks;
	w->num_deadlocks += knots->num_knots;
	arena_destroy(scratch);
}

static int compare_deadlocks(const void *a, const void *b)
{
	const struct waitfor_deadlock *x = a, *y = b;

	return SORTED_ORDER(x->is_likely, y->is_likely)
	       ?: SORTED_ORDER(rankset_count(y->ranks), rankset_count(x->ranks))
	       ?: SORTED_ORDER(rankset_first(x->ranks), rankset_first(y->ranks));
}

void waitfor_find_stuck(struct waitfor *w)
{
	struct waitfor_private *p = w->private;

	make_graph(w);
	p->is_released = wait_graph_release(p->graph, false, NULL, 0);
	p->is_likely_released = wait_graph_release(p->graph, true, NULL, 0);
	for (size_t l = 0; l < w->num_actors; l++) {
		bool has_left = w->evidence->actors[l].activity == ACTIVITY_ENDED;

		w->actors[l].is_stuck = !has_left && !p->is_released[l];
		w->actors[l].is_likely_stuck = !has_left && !p->is_likely_released[l];
	}
	add_deadlocks(w, p->is_released, false);
	add_deadlocks(w, p->is_likely_released, true);
	sorted_make(w->deadlocks, w->num_deadlocks, sizeof(*w->deadlocks), compare_deadlocks);
}
