/* SPDX-License-Identifier: BSD-3-Clause
 * From one rank along what it waits for to the ends: breadth first, so by the shortest way. A stuck
 * rank is followed only to what is stuck, since that is what keeps it; any other to all that it
 * waits for. */
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/waitfor_private.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

struct walker {
	const struct waitfor *w;
	const struct waitfor_private *p;
	const bool
		*is_released; /* NULL: of all that is waited for; else only what is not released */
	uint32_t
		*cycle_of; /* [num_lanes] deadlock in whose cycle it is; NULL without is_released */
	uint32_t *before;  /* [num_nodes] WAITFOR_NONE: not seen */
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
	return end == WAITFOR_NUM_ENDS      ? 0
	       : end == WAITFOR_END_UNKNOWN ? 1
	       : end == WAITFOR_END_LIBRARY ? 2
					    : 3;
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

static void leave_lane(struct walker *k, uint32_t l)
{
	const struct waitfor_lane *lane = &k->w->lanes[l];
	const struct waitfor_need *needs = k->w->needs + lane->first_need;
	int rank = k->p->jm->lanes[l].rank;
	bool is_held = false;

	switch ((enum waitfor_state)lane->state) {
	case WAITFOR_MOVES:
		end_at_rank(k, WAITFOR_END_MOVES, rank);
		return;
	case WAITFOR_OUTSIDE:
		end_at_rank(k, WAITFOR_END_OUTSIDE, rank);
		return;
	case WAITFOR_LEFT:
		end_at_rank(k, WAITFOR_END_LEFT, rank);
		return;
	case WAITFOR_BLOCKED:
	case WAITFOR_POLLS:
		break;
	}
	if (k->cycle_of && k->cycle_of[l] != WAITFOR_NONE) {
		rankset_add_set(k->ends[WAITFOR_END_CYCLE], k->w->deadlocks[k->cycle_of[l]].ranks);
		end_at(k, WAITFOR_END_CYCLE);
	}
	if (lane->num_needs == 0)
		end_at_rank(k,
			    lane->gap == WAITFOR_COMPLETE ? WAITFOR_END_LIBRARY
							  : WAITFOR_END_UNKNOWN,
			    rank);
	for (uint32_t i = 0; i < lane->num_needs; i++)
		is_held |= !needs[i].is_weak;
	for (uint32_t i = 0; i < lane->num_needs; i++)
		if (!is_held || !needs[i].is_weak)
			go_to(k, needs[i].node);
}

static void leave_rank(struct walker *k, int rank)
{
	const struct rank_lanes *lanes = &k->p->ranks[rank];

	if (k->p->has_left[rank])
		end_at_rank(k, WAITFOR_END_LEFT, rank);
	else if (lanes->num == 0)
		end_at_rank(k, WAITFOR_END_UNKNOWN, rank);
	else
		for (uint32_t l = 0; l < lanes->num; l++)
			go_to(k, lanes->first + l);
}

static void leave_collective(struct walker *k, uint32_t c)
{
	const struct collective_node *node = &k->p->collectives[c];
	uint32_t mismatch = k->w->collectives[c].mismatch;

	if (mismatch != WAITFOR_NONE) {
		const struct waitfor_mismatch *found = &k->w->mismatches[mismatch];

		for (size_t i = 0; i < found->num_parties; i++)
			rankset_add_set(k->ends[WAITFOR_END_MISMATCH], found->parties[i].ranks);
		end_at(k, WAITFOR_END_MISMATCH);
	}
	for (size_t i = 0; i < node->num_missing; i++)
		go_to(k, k->p->first_rank + (uint32_t)k->p->missing[node->first_missing + i]);
	/* Nobody is known to be missing: it may be any of whom nothing is known. */
	if (k->w->collectives[c].num_missing == 0 && k->w->collectives[c].num_unknown > 0) {
		const struct rankset *unknown = k->p->unknown[k->w->collectives[c].comm];

		for (int rank = rankset_first(unknown); rank >= 0;
		     rank = rankset_next(unknown, rank))
			go_to(k, k->p->first_rank + (uint32_t)rank);
	}
	if (node->chain != WAITFOR_NONE)
		go_to(k, k->p->first_collective + node->chain);
}

static void leave_any(struct walker *k, uint32_t comm)
{
	const struct job_comm *jc = &k->w->comms->comms[comm];

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < jc->sizes[side]; i++)
			if (jc->groups[side][i] >= 0)
				go_to(k, k->p->first_rank + (uint32_t)jc->groups[side][i]);
}

static void leave_lock(struct walker *k, uint32_t index)
{
	const struct lock_node *lock = &k->p->locks[index];

	for (size_t i = 0; i < lock->num_holders; i++)
		go_to(k, k->p->first_rank + (uint32_t)k->p->holder_ranks[lock->first_holder + i]);
	if (lock->chain != WAITFOR_NONE)
		go_to(k, k->p->first_lock + lock->chain);
}

static void leave(struct walker *k, uint32_t node)
{
	const struct waitfor_private *p = k->p;

	k->at = node;
	if (node < p->first_rank)
		leave_lane(k, node);
	else if (node < p->first_collective)
		leave_rank(k, (int)(node - p->first_rank));
	else if (node < p->first_any)
		leave_collective(k, node - p->first_collective);
	else if (node < p->first_lock)
		leave_any(k, node - p->first_any);
	else
		leave_lock(k, node - p->first_lock);
}

/* ---- From start to end ---- */

/* Certain deadlocks come first, and one that is likely may have some of their lanes, too. */
static void mark_cycles(struct walker *k, bool takes_likely)
{
	k->cycle_of = xcalloc(k->w->num_lanes, sizeof(*k->cycle_of));
	memset(k->cycle_of, 0xff, k->w->num_lanes * sizeof(*k->cycle_of));
	for (uint32_t d = 0; d < k->w->num_deadlocks; d++) {
		const struct waitfor_deadlock *deadlock = &k->w->deadlocks[d];

		if (deadlock->is_likely && !takes_likely)
			continue;
		for (size_t i = 0; i < deadlock->num_cycle; i++)
			if (k->cycle_of[deadlock->cycle[i].lane] == WAITFOR_NONE)
				k->cycle_of[deadlock->cycle[i].lane] = d;
	}
}

/* Choose what to follow by what is known of the start, and go. */
static void walk(struct walker *k, const struct rank_lanes *start)
{
	bool is_stuck = true, is_likely_stuck = true;

	for (uint32_t l = start->first; l < start->first + start->num; l++) {
		is_stuck &= k->w->lanes[l].is_stuck;
		is_likely_stuck &= k->w->lanes[l].is_likely_stuck;
	}
	if (is_stuck)
		k->is_released = k->p->is_released;
	else if (is_likely_stuck)
		k->is_released = k->p->is_likely_released;
	if (k->is_released)
		mark_cycles(k, !is_stuck);
	for (uint32_t l = start->first; l < start->first + start->num; l++) {
		k->before[l] = l;
		k->queue[k->num_queue++] = l;
	}
	for (size_t i = 0; i < k->num_queue; i++)
		leave(k, k->queue[i]);
}

/* And for nothing else, as far as is known, which is all? */
static bool waits_for_transfers(const struct waitfor *w, const struct waitfor_lane *lane)
{
	if (lane->gap != WAITFOR_COMPLETE)
		return false;
	for (uint32_t n = lane->first_need; n < lane->first_need + lane->num_needs; n++)
		if (!w->needs[n].is_weak)
			return false;
	return true;
}

/* All lead to each other, though that is not certain to be a deadlock: by transfers alone, or by
 * what is not known whether it is met. */
static void end_in_circle(struct walker *k)
{
	enum waitfor_end end = WAITFOR_END_LIBRARY;

	for (size_t i = 0; i < k->num_queue; i++)
		if (k->queue[i] < k->p->first_rank &&
		    !waits_for_transfers(k->w, &k->w->lanes[k->queue[i]]))
			end = WAITFOR_END_UNKNOWN;
	/* One of which it can be said why comes first: it is shown. */
	for (int has_gap = 1; has_gap >= 0; has_gap--)
		for (size_t i = 0; i < k->num_queue; i++) {
			uint32_t l = k->queue[i];

			if (l >= k->p->first_rank ||
			    (k->w->lanes[l].gap != WAITFOR_COMPLETE) != (bool)has_gap)
				continue;
			k->at = l;
			end_at_rank(k, end, k->p->jm->lanes[l].rank);
		}
}

/* The lanes on the way to the end. */
static void make_steps(const struct walker *k, struct waitfor_chain *chain)
{
	uint32_t after = WAITFOR_NONE, node = k->end_node;
	size_t length = 1;

	for (uint32_t n = node; k->before[n] != n; n = k->before[n])
		length += n < k->p->first_rank;
	length += node >= k->p->first_rank && node < k->p->first_collective;
	chain->steps = xcalloc(length + 1, sizeof(*chain->steps));
	chain->num_steps = length;
	for (;; after = node, node = k->before[node]) {
		bool is_end = after == WAITFOR_NONE;

		if (node < k->p->first_rank)
			chain->steps[--length] = (struct waitfor_step){
				.lane = node,
				.rank = k->p->jm->lanes[node].rank,
				.need = is_end ? WAITFOR_NONE
					       : waitfor_find_need(k->w, node, after),
			};
		else if (is_end && node < k->p->first_collective)
			chain->steps[--length] = (struct waitfor_step){
				.lane = k->p->ranks[node - k->p->first_rank].num
						? k->p->ranks[node - k->p->first_rank].first
						: WAITFOR_NONE,
				.rank = (int)(node - k->p->first_rank),
				.need = WAITFOR_NONE,
			};
		if (k->before[node] == node)
			break;
	}
}

/* The last step is a lane of a cycle: go on once around. */
static void add_cycle(const struct walker *k, struct waitfor_chain *chain)
{
	uint32_t entry = chain->steps[--chain->num_steps].lane;
	const struct waitfor_deadlock *deadlock = &k->w->deadlocks[k->cycle_of[entry]];
	size_t at = 0;

	while (deadlock->cycle[at].lane != entry)
		at++;
	chain->cycle_from = chain->num_steps;
	chain->steps = xreallocarray(chain->steps, chain->num_steps + deadlock->num_cycle,
				     sizeof(*chain->steps));
	for (size_t i = 0; i < deadlock->num_cycle; i++)
		chain->steps[chain->num_steps++] = deadlock->cycle[(at + i) % deadlock->num_cycle];
}

struct waitfor_chain *waitfor_chain_create(const struct waitfor *w, int rank)
{
	const struct waitfor_private *p = w->private;
	struct waitfor_chain *chain;
	struct walker k = {.w = w, .p = p, .end = WAITFOR_NUM_ENDS};

	if (rank < 0 || (size_t)rank >= p->num_ranks || p->ranks[rank].num == 0)
		return NULL;
	chain = xcalloc(1, sizeof(*chain));
	for (int e = 0; e < WAITFOR_NUM_ENDS; e++)
		chain->ends[e] = rankset_create();
	k.ends = chain->ends;
	k.before = xcalloc(p->graph.num_nodes, sizeof(*k.before));
	k.queue = xcalloc(p->graph.num_nodes, sizeof(*k.queue));
	memset(k.before, 0xff, p->graph.num_nodes * sizeof(*k.before));
	walk(&k, &p->ranks[rank]);
	if (k.end == WAITFOR_NUM_ENDS)
		end_in_circle(&k);
	chain->end = k.end;
	make_steps(&k, chain);
	if (chain->end == WAITFOR_END_CYCLE)
		add_cycle(&k, chain);
	free(k.before);
	free(k.queue);
	free(k.cycle_of);
	return chain;
}

/* From all that wait, to all that they wait for. */
bool *waitfor_find_awaited(const struct waitfor *w, struct rankset **ends)
{
	const struct waitfor_private *p = w->private;
	bool *is_awaited = xcalloc(w->num_lanes, sizeof(*is_awaited));
	struct rankset *own_ends[WAITFOR_NUM_ENDS];
	struct walker k = {.w = w, .p = p, .end = WAITFOR_NUM_ENDS};

	k.ends = ends ? ends : own_ends;
	for (int e = 0; e < WAITFOR_NUM_ENDS; e++)
		k.ends[e] = rankset_create();
	k.before = xcalloc(p->graph.num_nodes, sizeof(*k.before));
	k.queue = xcalloc(p->graph.num_nodes, sizeof(*k.queue));
	memset(k.before, 0xff, p->graph.num_nodes * sizeof(*k.before));
	for (uint32_t l = 0; l < w->num_lanes; l++) {
		if (w->lanes[l].state != WAITFOR_BLOCKED && w->lanes[l].state != WAITFOR_POLLS)
			continue;
		k.before[l] = l;
		k.queue[k.num_queue++] = l;
	}
	for (size_t i = 0; i < k.num_queue; i++)
		leave(&k, k.queue[i]);
	for (size_t l = 0; l < w->num_lanes; l++)
		is_awaited[l] =
			k.before[l] != WAITFOR_NONE &&
			k.before[p->first_rank + (size_t)p->jm->lanes[l].rank] != WAITFOR_NONE;
	for (int e = 0; !ends && e < WAITFOR_NUM_ENDS; e++)
		rankset_destroy(own_ends[e]);
	free(k.before);
	free(k.queue);
	return is_awaited;
}

struct rankset *waitfor_find_gone(const struct waitfor *w)
{
	const struct waitfor_private *p = w->private;
	struct rankset *gone = rankset_create();

	for (uint32_t n = 0; n < p->graph.num_nodes; n++) {
		/* Ranks lead to their lanes, which wait for nobody where they have left. */
		if (p->is_released[n] || (n >= p->first_rank && n < p->first_collective))
			continue;
		for (size_t e = p->graph.first[n]; e < p->graph.first[n + 1]; e++) {
			int rank = waitfor_rank_of(w, p->graph.to[e]);

			if (p->graph.to[e] >= p->first_rank && rank >= 0 && p->has_left[rank])
				rankset_add(gone, rank);
		}
	}
	return gone;
}

void waitfor_chain_destroy(struct waitfor_chain *chain)
{
	if (!chain)
		return;
	for (int e = 0; e < WAITFOR_NUM_ENDS; e++)
		rankset_destroy(chain->ends[e]);
	free(chain->steps);
	free(chain);
}
