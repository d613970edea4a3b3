/* SPDX-License-Identifier: BSD-3-Clause
 * Asking the wait-for graph about its nodes, lanes and needs. */
#include "analysis/waits/waitfor_private.h"

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
		return w->evidence->actors[node].rank;
	return node < p->first_collective ? (int)(node - p->first_rank) : -1;
}

const struct group_node *waitfor_group_of(const struct waitfor *w, uint32_t node)
{
	const struct waitfor_private *p = w->private;

	if (node < p->first_any)
		return &p->collectives[node - p->first_collective];
	return node < p->first_lock ? &p->any[node - p->first_any]
				    : &p->locks[node - p->first_lock].group;
}

uint32_t waitfor_num_actors(const struct waitfor *w, int rank)
{
	return rank < 0 || (size_t)rank >= w->evidence->num_ranks ? 0
								  : w->evidence->ranks[rank].num;
}

uint32_t waitfor_first_actor(const struct waitfor *w, int rank)
{
	return waitfor_num_actors(w, rank) > 0 ? w->evidence->ranks[rank].first : WAITFOR_NONE;
}

bool waitfor_is_actor_of(const struct waitfor *w, uint32_t lane, int rank)
{
	return lane < w->num_actors && w->evidence->actors[lane].rank == rank;
}

const struct waitfor_need *waitfor_find_need(const struct waitfor *w, uint32_t lane, uint32_t node)
{
	const struct waitfor_need *need = NULL, *found = NULL;

	while ((need = waitfor_next_need(w, lane, need)))
		if (need->node == node && (!found || (need->is_certain && !found->is_certain)))
			found = need;
	return found;
}

unsigned waitfor_kinds_of(const struct waitfor *w, uint32_t lane)
{
	unsigned kinds = 0;

	for (const struct waitfor_need *need = NULL; (need = waitfor_next_need(w, lane, need));)
		kinds |= 1U << need->kind;
	return kinds;
}

bool waitfor_has_strong_need(const struct waitfor *w, uint32_t lane)
{
	for (const struct waitfor_need *need = NULL; (need = waitfor_next_need(w, lane, need));)
		if (!need->is_weak)
			return true;
	return false;
}

const struct waitfor_need *waitfor_next_need_of(const struct waitfor *w,
						const struct waitfor_deadlock *deadlock,
						const struct waitfor_need *need)
{
	size_t i = 0;

	if (need)
		i = sorted_first(&need->actor, deadlock->actors, deadlock->num_actors,
				 sizeof(need->actor), sorted_compare_u32);
	for (; i < deadlock->num_actors; i++, need = NULL)
		if ((need = waitfor_next_need(w, deadlock->actors[i], need)))
			return need;
	return NULL;
}

static void add_group(const struct waitfor *w, uint32_t node, int except, struct rankset *ranks)
{
	const struct group_node *group;

	do {
		group = waitfor_group_of(w, node);
		for (size_t i = 0; i < group->num_ranks; i++)
			if (group->ranks[i] != except)
				rankset_add(ranks, group->ranks[i]);
		node -= group->back;
	} while (group->back);
}

void waitfor_add_missing(const struct waitfor *w, uint32_t collective, struct rankset *ranks)
{
	add_group(w, w->private->first_collective + collective, -1, ranks);
}

int waitfor_peer(const struct waitfor *w, const struct waitfor_need *need)
{
	return need->peer >= 0 ? need->peer : waitfor_rank_of(w, need->node);
}

void waitfor_add_peers(const struct waitfor *w, const struct waitfor_need *need,
		       struct rankset *ranks)
{
	const struct waitfor_private *p = w->private;
	bool is_any = need->node >= p->first_any && need->node < p->first_lock;

	if (need->node >= p->first_collective)
		add_group(w, need->node, is_any ? w->evidence->actors[need->actor].rank : -1,
			  ranks);
	else if (need->kind != WAITFOR_THREAD)
		rankset_add(ranks, waitfor_rank_of(w, need->node));
}

bool *waitfor_find_met(const struct waitfor *w, const struct rankset *ranks, struct arena *arena)
{
	const struct waitfor_private *p = w->private;
	bool *is_met = arena_array(arena, p->graph->num_nodes, sizeof(*is_met));

	for (uint32_t n = p->first_rank; n < p->first_collective; n++)
		is_met[n] = rankset_contains(ranks, waitfor_rank_of(w, n));
	/* Nodes that a group leads back to come before it. */
	for (uint32_t n = p->first_collective; n < p->graph->num_nodes; n++) {
		const struct group_node *group = waitfor_group_of(w, n);

		is_met[n] = group->back && is_met[n - group->back];
		for (size_t i = 0; i < group->num_ranks && !is_met[n]; i++)
			is_met[n] = rankset_contains(ranks, group->ranks[i]);
	}
	return is_met;
}
