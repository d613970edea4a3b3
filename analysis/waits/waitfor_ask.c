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
	return rank < 0 || (size_t)rank >= w->private->num_ranks ? 0 : w->private->actors[rank].num;
}

uint32_t waitfor_first_actor(const struct waitfor *w, int rank)
{
	return waitfor_num_actors(w, rank) > 0 ? w->private->actors[rank].first : WAITFOR_NONE;
}

bool waitfor_is_actor_of(const struct waitfor *w, uint32_t lane, int rank)
{
	return lane < w->num_actors && w->evidence->actors[lane].rank == rank;
}

uint32_t waitfor_find_need(const struct waitfor *w, uint32_t lane, uint32_t node)
{
	const struct waitfor_need *need = NULL, *found = NULL;

	while ((need = waitfor_next_need(w, lane, need)))
		if (need->node == node && (!found || (need->is_certain && !found->is_certain)))
			found = need;
	return found ? (uint32_t)(found - w->needs) : WAITFOR_NONE;
}

bool waitfor_has_strong_need(const struct waitfor *w, uint32_t lane)
{
	for (const struct waitfor_need *need = NULL; (need = waitfor_next_need(w, lane, need));)
		if (!need->is_weak)
			return true;
	return false;
}

/* A need, and a lane that may have it. */
static int compare_needs(const void *key, const void *element)
{
	uint32_t need = *(const uint32_t *)key;
	const struct waitfor_actor *lane = element;

	return need < lane->first_need ? -1 : need - lane->first_need >= lane->num_needs;
}

uint32_t waitfor_actor_of_need(const struct waitfor *w, uint32_t need)
{
	const struct waitfor_actor *lane =
		bsearch(&need, w->actors, w->num_actors, sizeof(*w->actors), compare_needs);

	return (uint32_t)(lane - w->actors);
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

int waitfor_peer(const struct waitfor *w, uint32_t need)
{
	return w->needs[need].peer >= 0 ? w->needs[need].peer
					: waitfor_rank_of(w, w->needs[need].node);
}

void waitfor_add_peers(const struct waitfor *w, uint32_t need, struct rankset *ranks)
{
	const struct waitfor_private *p = w->private;
	uint32_t node = w->needs[need].node;
	bool is_any = node >= p->first_any && node < p->first_lock;

	if (node >= p->first_collective)
		add_group(w, node,
			  is_any ? w->evidence->actors[waitfor_actor_of_need(w, need)].rank : -1,
			  ranks);
	else if (w->needs[need].kind != WAITFOR_THREAD)
		rankset_add(ranks, waitfor_rank_of(w, node));
}
