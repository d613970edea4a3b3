/* SPDX-License-Identifier: BSD-3-Clause
 * From one rank along what it waits for to the ends: breadth first, so by the shortest way. A stuck
 * rank is followed only to what is stuck, any other to all that it waits for. */
#include "analysis/waits/waitfor_private.h"

struct walker {
	const struct waitfor *w;
	const struct waitfor_private *p;
	struct arena *scratch;
	const bool *is_released; /* NULL: follow all; else only what is not released */
	/* [num_lanes] deadlock in whose cycle it is, or NULL; NULL without is_released */
	const struct waitfor_deadlock **cycle_of;
	uint32_t *before; /* [num_nodes] WAITFOR_NONE: not seen */
	uint32_t *queue;
	size_t num_queue;
	uint32_t at; /* the node that is being left */
	struct rankset **ends;
	uint32_t end_node; /* the first that explains something */
	enum waitfor_end end;
};

static void go_to(struct walker *k, uint32_t node)
{
	if (k->before[node] != WAITFOR_NONE || (k->is_released && k->is_released[node]))
		return;
	k->before[node] = k->at;
	k->queue[k->num_queue++] = node;
}

/* Ends that explain something come before those that do not. */
static int weight(enum waitfor_end end)
{
	if (end == WAITFOR_END_UNKNOWN || end == WAITFOR_END_LIBRARY)
		return end == WAITFOR_END_UNKNOWN ? 1 : 2;
	return end == WAITFOR_NUM_ENDS ? 0 : 3;
}

static void end_at(struct walker *k, enum waitfor_end end)
{
	if (weight(end) <= weight(k->end))
		return;
	k->end = end;
	k->end_node = k->at;
}

static void end_at_rank(struct walker *k, enum waitfor_end end, int rank)
{
	rankset_add(k->ends[end], rank);
	end_at(k, end);
}

/* ---- What nodes lead to ---- */

static void end_at_mismatch(struct walker *k, uint32_t m)
{
	const struct waitfor_mismatch *found = &k->w->mismatches[m];

	for (size_t i = 0; i < found->num_parties; i++)
		rankset_add_set(k->ends[WAITFOR_END_MISMATCH], found->parties[i].ranks);
	end_at(k, WAITFOR_END_MISMATCH);
}

static void leave_lane(struct walker *k, uint32_t l)
{
	static const enum waitfor_end ends[] = {
		[ACTIVITY_MOVES] = WAITFOR_END_MOVES,
		[ACTIVITY_COMPUTING] = WAITFOR_END_OUTSIDE,
		[ACTIVITY_ENDED] = WAITFOR_END_LEFT,
	};
	const struct waitfor_actor *lane = &k->w->actors[l];
	const struct actor *actor = &k->w->evidence->actors[l];
	int rank = actor->rank;
	bool is_held = waitfor_has_strong_need(k->w, l);
	uint32_t mismatch = is_held ? WAITFOR_NONE : waitfor_mismatch_of(k->w, l);

	if (!actor_is_waiting(actor) && !is_held) {
		end_at_rank(k, ends[actor->activity], rank);
		return;
	}
	if (k->cycle_of && k->cycle_of[l]) {
		rankset_add_set(k->ends[WAITFOR_END_CYCLE], k->cycle_of[l]->ranks);
		end_at(k, WAITFOR_END_CYCLE);
	}
	/* Else the collective's node leads there. */
	if (mismatch != WAITFOR_NONE &&
	    (lane->num_needs == 0 || k->w->mismatches[mismatch].what == WAITFOR_OTHER_LEADERS)) {
		end_at_mismatch(k, mismatch);
		return;
	}
	if (lane->num_needs == 0)
		end_at_rank(k,
			    lane->gap == WAITFOR_COMPLETE ? WAITFOR_END_LIBRARY
							  : WAITFOR_END_UNKNOWN,
			    rank);
	for (const struct waitfor_need *need = NULL; (need = waitfor_next_need(k->w, l, need));)
		if (!is_held || !need->is_weak)
			go_to(k, need->node);
}

static void leave_rank(struct walker *k, int rank)
{
	uint32_t l = waitfor_first_actor(k->w, rank);

	if (k->p->has_left[rank])
		end_at_rank(k, WAITFOR_END_LEFT, rank);
	else if (l == WAITFOR_NONE)
		end_at_rank(k, WAITFOR_END_UNKNOWN, rank);
	else
		for (; waitfor_is_actor_of(k->w, l, rank); l++)
			if (k->w->evidence->actors[l].activity != ACTIVITY_ENDED)
				go_to(k, l);
}

static void leave_collective(struct walker *k, const struct waitfor_collective *collective)
{
	/* It may be any of whom nothing is known, unless all are needed and some are known to be
	 * missing. */
	const struct rankset *unknown =
		collective->num_unknown > 0 &&
				(collective->num_missing == 0 || !collective->needs_all)
			? k->p->unknown[collective->comm]
			: NULL;

	if (collective->mismatch != WAITFOR_NONE)
		end_at_mismatch(k, collective->mismatch);
	for (int rank = unknown ? rankset_first(unknown) : -1; rank >= 0;
	     rank = rankset_next(unknown, rank))
		go_to(k, k->p->first_rank + (uint32_t)rank);
}

static void leave(struct walker *k, uint32_t node)
{
	const struct waitfor_private *p = k->p;
	const struct group_node *group;

	k->at = node;
	if (node < p->first_rank) {
		leave_lane(k, node);
		return;
	}
	if (node < p->first_collective) {
		leave_rank(k, (int)(node - p->first_rank));
		return;
	}
	group = waitfor_group_of(k->w, node);
	for (size_t i = 0; i < group->num_ranks; i++)
		go_to(k, p->first_rank + (uint32_t)group->ranks[i]);
	if (node < p->first_any)
		leave_collective(k, &k->w->collectives[node - p->first_collective]);
	if (group->back)
		go_to(k, node - group->back);
}

/* ---- From start to end ---- */

/* Certain deadlocks come first, and a likely one may have some of their lanes, too. */
static void mark_cycles(struct walker *k, bool takes_likely)
{
	k->cycle_of = arena_array(k->scratch, k->w->num_actors, sizeof(*k->cycle_of));
	for (uint32_t d = 0; d < k->w->num_deadlocks; d++) {
		const struct waitfor_deadlock *deadlock = &k->w->deadlocks[d];

		for (size_t i = 0; i < deadlock->num_cycle; i++)
			if ((takes_likely || !deadlock->is_likely) &&
			    !k->cycle_of[deadlock->cycle[i].actor])
				k->cycle_of[deadlock->cycle[i].actor] = deadlock;
	}
}

/* Go from the lanes in the queue. */
static void walk_on(struct walker *k)
{
	for (size_t i = 0; i < k->num_queue; i++)
		leave(k, k->queue[i]);
}

static void start_at(struct walker *k, uint32_t lane)
{
	k->before[lane] = lane;
	k->queue[k->num_queue++] = lane;
}

/* Does another thread of its rank wait for it? */
static bool has_waiting_thread(const struct waitfor *w, uint32_t l)
{
	int rank = w->evidence->actors[l].rank;

	for (uint32_t i = waitfor_first_actor(w, rank); waitfor_is_actor_of(w, i, rank); i++)
		if (waitfor_find_need(w, i, l))
			return true;
	return false;
}

/* Choose what to follow by what is known of the start, and go. */
static void walk(struct walker *k, int rank)
{
	bool is_stuck = true, is_likely_stuck = true;

	for (uint32_t l = waitfor_first_actor(k->w, rank); waitfor_is_actor_of(k->w, l, rank);
	     l++) {
		is_stuck &= k->w->actors[l].is_stuck;
		is_likely_stuck &= k->w->actors[l].is_likely_stuck;
		if (!has_waiting_thread(k->w, l) &&
		    k->w->evidence->actors[l].activity != ACTIVITY_ENDED)
			start_at(k, l);
	}
	/* They all wait for each other, or have all ended. */
	for (uint32_t l = waitfor_first_actor(k->w, rank);
	     k->num_queue == 0 && waitfor_is_actor_of(k->w, l, rank); l++)
		start_at(k, l);
	if (is_stuck)
		k->is_released = k->p->is_released;
	else if (is_likely_stuck)
		k->is_released = k->p->is_likely_released;
	if (k->is_released)
		mark_cycles(k, !is_stuck);
	walk_on(k);
}

/* All lead to each other, but not surely in a deadlock: by transfers or what may be met. */
static void end_in_circle(struct walker *k)
{
	enum waitfor_end end = WAITFOR_END_LIBRARY;

	for (size_t i = 0; i < k->num_queue; i++)
		if (k->queue[i] < k->p->first_rank &&
		    (waitfor_has_strong_need(k->w, k->queue[i]) ||
		     k->w->actors[k->queue[i]].gap != WAITFOR_COMPLETE))
			end = WAITFOR_END_UNKNOWN;
	/* One of which it can be said why comes first: it is shown. */
	for (int has_gap = 1; has_gap >= 0; has_gap--)
		for (size_t i = 0; i < k->num_queue; i++) {
			uint32_t l = k->queue[i];

			if (l >= k->p->first_rank ||
			    (k->w->actors[l].gap != WAITFOR_COMPLETE) != (bool)has_gap)
				continue;
			k->at = l;
			end_at_rank(k, end, k->w->evidence->actors[l].rank);
		}
}

/* The lanes on the way to the end. */
static void make_steps(const struct walker *k, struct waitfor_chain *chain, struct arena *arena)
{
	uint32_t after = WAITFOR_NONE, node = k->end_node;
	size_t length = 1;

	for (uint32_t n = node; k->before[n] != n; n = k->before[n])
		length += n < k->p->first_rank;
	length += node >= k->p->first_rank && node < k->p->first_collective;
	chain->steps = arena_array(arena, length, sizeof(*chain->steps));
	chain->num_steps = length;
	for (;; after = node, node = k->before[node]) {
		bool is_end = after == WAITFOR_NONE, is_lane = node < k->p->first_rank;
		int rank = waitfor_rank_of(k->w, node);

		if (is_lane || (is_end && rank >= 0))
			chain->steps[--length] = (struct waitfor_step){
				.actor = is_lane ? node : waitfor_first_actor(k->w, rank),
				.rank = rank,
				.need = is_end ? NULL : waitfor_find_need(k->w, node, after),
			};
		if (k->before[node] == node)
			break;
	}
}

/* The last step is a lane of a cycle: go on once around. */
static void add_cycle(const struct walker *k, struct waitfor_chain *chain, struct arena *arena)
{
	uint32_t entry = chain->steps[--chain->num_steps].actor;
	const struct waitfor_deadlock *deadlock = k->cycle_of[entry];
	struct waitfor_step *steps =
		arena_array(arena, chain->num_steps + deadlock->num_cycle, sizeof(*steps));
	size_t at = 0;

	while (deadlock->cycle[at].actor != entry)
		at++;
	memcpy(steps, chain->steps, chain->num_steps * sizeof(*steps));
	chain->steps = steps;
	chain->cycle_from = chain->num_steps;
	for (size_t i = 0; i < deadlock->num_cycle; i++)
		steps[chain->num_steps++] = deadlock->cycle[(at + i) % deadlock->num_cycle];
}

/* ---- Asking ---- */

/* ends: room for WAITFOR_NUM_ENDS sets. The caller destroys the scratch arena. */
static struct walker walker_of(const struct waitfor *w, struct rankset **ends, struct arena *arena)
{
	size_t num_nodes = w->private->graph->num_nodes;
	struct walker k = {
		.w = w,
		.p = w->private,
		.scratch = arena_create(),
		.ends = ends,
		.end = WAITFOR_NUM_ENDS,
	};

	for (int e = 0; e < WAITFOR_NUM_ENDS; e++)
		ends[e] = rankset_in(arena, rankset_create());
	k.before = arena_array(k.scratch, num_nodes, sizeof(*k.before));
	k.queue = arena_array(k.scratch, num_nodes, sizeof(*k.queue));
	memset(k.before, 0xff, num_nodes * sizeof(*k.before));
	return k;
}

struct waitfor_chain *waitfor_find_chain(const struct waitfor *w, int rank, struct arena *arena)
{
	struct waitfor_chain *chain;
	struct walker k;

	if (waitfor_num_actors(w, rank) == 0)
		return NULL;
	chain = arena_alloc(arena, sizeof(*chain));
	k = walker_of(w, chain->ends, arena);
	walk(&k, rank);
	if (k.end == WAITFOR_NUM_ENDS)
		end_in_circle(&k);
	chain->end = k.end;
	make_steps(&k, chain, arena);
	if (chain->end == WAITFOR_END_CYCLE)
		add_cycle(&k, chain, arena);
	arena_destroy(k.scratch);
	return chain;
}

/* From all that wait, to all that they wait for. */
bool *waitfor_find_awaited(const struct waitfor *w, struct rankset **ends, struct arena *arena)
{
	const struct waitfor_private *p = w->private;
	bool *is_awaited = arena_array(arena, w->num_actors, sizeof(*is_awaited));
	struct walker k = walker_of(w, ends, arena);

	for (uint32_t l = 0; l < w->num_actors; l++)
		if (actor_is_waiting(&w->evidence->actors[l]))
			start_at(&k, l);
	walk_on(&k);
	for (size_t l = 0; l < w->num_actors; l++)
		is_awaited[l] = k.before[l] != WAITFOR_NONE &&
				k.before[p->first_rank + (size_t)w->evidence->actors[l].rank] !=
					WAITFOR_NONE;
	arena_destroy(k.scratch);
	return is_awaited;
}

struct rankset *waitfor_find_gone(const struct waitfor *w, struct arena *arena)
{
	const struct waitfor_private *p = w->private;
	const struct wait_graph *graph = p->graph;
	struct rankset *gone = rankset_in(arena, rankset_create());

	for (uint32_t n = 0; n < graph->num_nodes; n++) {
		/* Ranks lead to their lanes, which wait for nobody where they have left. */
		if (p->is_released[n] || (n >= p->first_rank && n < p->first_collective))
			continue;
		for (size_t e = graph->first[n]; e < graph->first[n + 1]; e++) {
			int rank = waitfor_rank_of(w, graph->to[e]);

			if (graph->to[e] >= p->first_rank && rank >= 0 && p->has_left[rank])
				rankset_add(gone, rank);
		}
	}
	return gone;
}
