/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/waits/queue_waits.h"
#include "analysis/waits/stack_facts.h"
#include "model/job/callpath.h"
#include "model/job/rankset.h"
#include "model/sorted.h"

static bool is_wait_alike(const struct queue_wait *a, const struct queue_wait *b)
{
	return a->kind == b->kind && a->tag == b->tag && a->is_any == b->is_any &&
	       strcmp(a->comm, b->comm) == 0;
}

/* Of one rank alone. */
static struct queue_group make_group(const struct queue_waits *waits,
				     const struct stack_facts *facts, const struct rankset *apart,
				     int rank, struct arena *arena)
{
	struct queue_group group = {
		.ranks = rankset_in(arena, rankset_create()),
		.peers = rankset_in(arena, rankset_create()),
		.function = stack_facts_get(facts, rank)->function,
		.is_apart = rankset_contains(apart, rank),
		.alike = rankset_in(arena, rankset_create()),
		.others = rankset_in(arena, rankset_create()),
	};

	rankset_add(group.ranks, rank);
	for (const struct queue_wait *wait = NULL; (wait = queue_waits_next(waits, rank, wait));) {
		if (rankset_is_empty(group.peers))
			group.example = *wait;
		rankset_add(group.peers, wait->peer);
		if (!wait->is_any)
			rankset_add(is_wait_alike(wait, &group.example) ? group.alike
									: group.others,
				    wait->peer);
	}
	return group;
}

static bool is_same_kind(const struct queue_group *a, const struct queue_group *b)
{
	return a->function == b->function && a->is_apart == b->is_apart &&
	       rankset_is_empty(a->peers) == rankset_is_empty(b->peers) &&
	       is_wait_alike(&a->example, &b->example);
}

static bool is_same(const struct queue_group *a, const struct queue_group *b)
{
	return rankset_equal(a->alike, b->alike) && rankset_equal(a->others, b->others);
}

/* takes_mixed: ranks that wait for others of one kind are in one group. */
static void add_group(struct queue_groups *groups, const struct queue_group *added,
		      bool takes_mixed, size_t *capacity, struct arena *arena)
{
	for (size_t g = 0; g < groups->num_groups; g++) {
		struct queue_group *group = &groups->groups[g];

		if (!is_same_kind(group, added) || !(takes_mixed || is_same(group, added)))
			continue;
		group->is_mixed |= !rankset_equal(group->alike, added->alike);
		rankset_add_set(group->ranks, added->ranks);
		rankset_add_set(group->peers, added->peers);
		rankset_add_set(group->alike, added->alike);
		rankset_add_set(group->others, added->others);
		return;
	}
	*ARENA_PUSH(arena, groups->groups, groups->num_groups, *capacity) = *added;
}

static int compare_groups(const void *a, const void *b)
{
	const struct queue_group *x = a, *y = b;

	return SORTED_ORDER(rankset_count(y->ranks), rankset_count(x->ranks))
		       ?: SORTED_ORDER(rankset_first(x->ranks), rankset_first(y->ranks));
}

/* NULL: they are more than max_groups. */
static struct queue_groups *make_groups(const struct queue_waits *waits,
					const struct stack_facts *facts,
					const struct rankset *ranks, const struct rankset *apart,
					bool takes_mixed, size_t max_groups, struct arena *arena)
{
	struct queue_groups *groups = arena_alloc(arena, sizeof(*groups));
	size_t capacity = 0;

	for (int rank = rankset_first(ranks); rank >= 0 && groups->num_groups <= max_groups;
	     rank = rankset_next(ranks, rank)) {
		const struct stack_fact *fact = stack_facts_get(facts, rank);
		struct queue_group group;

		if (!fact->num_samples || fact->function == CALLPATH_NONE)
			continue;
		group = make_group(waits, facts, apart, rank, arena);
		add_group(groups, &group, takes_mixed, &capacity, arena);
	}
	return groups->num_groups <= max_groups ? groups : NULL;
}

struct queue_groups *queue_groups_create(const struct queue_waits *waits,
					 const struct stack_facts *facts,
					 const struct rankset *ranks, const struct rankset *apart,
					 size_t max_groups, struct arena *arena)
{
	struct queue_groups *groups =
		make_groups(waits, facts, ranks, apart, false, max_groups, arena);

	if (!groups)
		groups = make_groups(waits, facts, ranks, apart, true, SIZE_MAX, arena);
	sorted_make(groups->groups, groups->num_groups, sizeof(*groups->groups), compare_groups);
	return groups;
}
