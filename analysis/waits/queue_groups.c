/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "analysis/waits/queue_waits.h"
#include "analysis/waits/stack_facts.h"
#include "model/arena.h"
#include "model/job/callpath.h"
#include "model/job/rankset.h"
#include "model/sorted.h"

/* What a rank waits for, and where. */
struct key {
	uint32_t function;
	bool is_apart;
	const struct queue_wait *wait; /* the first; NULL: not known */
	/* those it waits for as in the first, and else, "any rank" apart */
	struct rankset *alike, *others;
};

struct groups_builder {
	struct arena *arena;
	struct queue_groups *groups;
	struct key *keys; /* of the first rank of each group */
	size_t capacity, keys_capacity;
	bool takes_mixed; /* ranks that wait for others of one kind are in one group */
};

static bool is_wait_alike(const struct queue_wait *a, const struct queue_wait *b)
{
	return a->kind == b->kind && a->tag == b->tag && a->is_any == b->is_any &&
	       strcmp(a->comm, b->comm) == 0;
}

static struct key make_key(const struct queue_waits *waits, const struct stack_facts *facts,
			   const struct rankset *apart, int rank, struct arena *arena)
{
	const struct queue_wait *of_rank;
	size_t num = queue_waits_of(waits, rank, &of_rank);
	struct key key = {
		.function = stack_facts_get(facts, rank)->function,
		.is_apart = rankset_contains(apart, rank),
		.wait = num ? of_rank : NULL,
		.alike = rankset_in(arena, rankset_create()),
		.others = rankset_in(arena, rankset_create()),
	};

	for (size_t i = 0; i < num; i++)
		if (!of_rank[i].is_any)
			rankset_add(is_wait_alike(&of_rank[i], of_rank) ? key.alike : key.others,
				    of_rank[i].peer);
	return key;
}

static bool is_same_kind(const struct key *a, const struct key *b)
{
	if (a->function != b->function || a->is_apart != b->is_apart || !a->wait != !b->wait)
		return false;
	return !a->wait || is_wait_alike(a->wait, b->wait);
}

static bool is_same(const struct key *a, const struct key *b)
{
	return rankset_equal(a->alike, b->alike) && rankset_equal(a->others, b->others);
}

static struct queue_group *find_group(struct groups_builder *b, const struct key *key)
{
	struct queue_groups *groups = b->groups;
	struct queue_group *group;
	size_t g = 0;

	while (g < groups->num_groups &&
	       !(is_same_kind(&b->keys[g], key) && (b->takes_mixed || is_same(&b->keys[g], key))))
		g++;
	if (g == groups->num_groups) {
		b->keys = arena_grow(b->arena, b->keys, g, &b->keys_capacity, sizeof(*b->keys));
		groups->groups = arena_grow(b->arena, groups->groups, g, &b->capacity,
					    sizeof(*groups->groups));
		b->keys[g] = *key;
		groups->groups[groups->num_groups++] = (struct queue_group){
			.ranks = rankset_in(b->arena, rankset_create()),
			.peers = rankset_in(b->arena, rankset_create()),
			.alike = rankset_in(b->arena, rankset_create()),
			.example = key->wait ? *key->wait : (struct queue_wait){0},
		};
	}
	group = &groups->groups[g];
	group->is_mixed |= !rankset_equal(b->keys[g].alike, key->alike);
	group->has_others |= !rankset_is_empty(key->others);
	rankset_add_set(group->alike, key->alike);
	return group;
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
	struct groups_builder b = {
		.arena = arena,
		.groups = arena_alloc(arena, sizeof(*b.groups)),
		.takes_mixed = takes_mixed,
	};
	int rank = rankset_first(ranks);

	for (; rank >= 0 && b.groups->num_groups <= max_groups; rank = rankset_next(ranks, rank)) {
		const struct stack_fact *fact = stack_facts_get(facts, rank);
		const struct queue_wait *of_rank;
		size_t num = queue_waits_of(waits, rank, &of_rank);
		struct queue_group *group;
		struct key key;

		if (!fact->num_samples || fact->function == CALLPATH_NONE)
			continue;
		key = make_key(waits, facts, apart, rank, arena);
		group = find_group(&b, &key);
		rankset_add(group->ranks, rank);
		for (size_t i = 0; i < num; i++)
			rankset_add(group->peers, of_rank[i].peer);
	}
	return b.groups->num_groups <= max_groups ? b.groups : NULL;
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
