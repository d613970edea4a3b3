/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/queue_waits.h"
#include "analysis/waits/stack_facts.h"
#include "model/job/callpath.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

/* What a rank waits for, and where. */
struct key {
	uint32_t function;
	bool is_apart;
	const struct queue_wait *wait; /* the first; NULL: not known */
	/* those it waits for as in the first, and else, "any rank" apart */
	struct rankset *alike, *others;
};

struct groups_builder {
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
			   const struct rankset *apart, int rank)
{
	const struct queue_wait *of_rank;
	size_t num = queue_waits_of(waits, rank, &of_rank);
	struct key key = {
		.function = stack_facts_get(facts, rank)->function,
		.is_apart = rankset_contains(apart, rank),
		.wait = num ? of_rank : NULL,
		.alike = rankset_create(),
		.others = rankset_create(),
	};

	for (size_t i = 0; i < num; i++)
		if (!of_rank[i].is_any)
			rankset_add(is_wait_alike(&of_rank[i], of_rank) ? key.alike : key.others,
				    of_rank[i].peer);
	return key;
}

static void free_key(struct key *key)
{
	rankset_destroy(key->alike);
	rankset_destroy(key->others);
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

/* The group of a key, which is freed or becomes the group's. */
static struct queue_group *find_group(struct groups_builder *b, struct key *key)
{
	struct queue_groups *groups = b->groups;
	size_t g = 0;

	while (g < groups->num_groups &&
	       !(is_same_kind(&b->keys[g], key) && (b->takes_mixed || is_same(&b->keys[g], key))))
		g++;
	if (g < groups->num_groups) {
		groups->groups[g].is_mixed |= !rankset_equal(b->keys[g].alike, key->alike);
		groups->groups[g].has_others |= !rankset_is_empty(key->others);
		rankset_add_set(groups->groups[g].alike, key->alike);
		free_key(key);
		return &groups->groups[g];
	}
	b->keys = xgrow(b->keys, g, &b->keys_capacity, sizeof(*b->keys));
	groups->groups = xgrow(groups->groups, g, &b->capacity, sizeof(*groups->groups));
	b->keys[g] = *key;
	groups->groups[g] = (struct queue_group){
		.ranks = rankset_create(),
		.peers = rankset_create(),
		.alike = rankset_copy(key->alike),
		.has_others = !rankset_is_empty(key->others),
	};
	if (key->wait)
		groups->groups[g].example = *key->wait;
	groups->num_groups++;
	return &groups->groups[g];
}

static int compare_groups(const void *a, const void *b)
{
	const struct queue_group *x = a, *y = b;
	int num_x = rankset_count(x->ranks), num_y = rankset_count(y->ranks);

	if (num_x != num_y)
		return num_x > num_y ? -1 : 1;
	return (rankset_first(x->ranks) > rankset_first(y->ranks)) -
	       (rankset_first(x->ranks) < rankset_first(y->ranks));
}

/* NULL: they are more than max_groups. */
static struct queue_groups *make_groups(const struct queue_waits *waits,
					const struct stack_facts *facts,
					const struct rankset *ranks, const struct rankset *apart,
					bool takes_mixed, size_t max_groups)
{
	struct groups_builder b = {.groups = xcalloc(1, sizeof(*b.groups)),
				   .takes_mixed = takes_mixed};
	int rank = rankset_first(ranks);

	for (; rank >= 0 && b.groups->num_groups <= max_groups; rank = rankset_next(ranks, rank)) {
		const struct stack_fact *fact = stack_facts_get(facts, rank);
		const struct queue_wait *of_rank;
		size_t num = queue_waits_of(waits, rank, &of_rank);
		struct queue_group *group;
		struct key key;

		if (!fact->num_samples || fact->function == CALLPATH_NONE)
			continue;
		key = make_key(waits, facts, apart, rank);
		group = find_group(&b, &key);
		rankset_add(group->ranks, rank);
		for (size_t i = 0; i < num; i++)
			rankset_add(group->peers, of_rank[i].peer);
	}
	for (size_t g = 0; g < b.groups->num_groups; g++)
		free_key(&b.keys[g]);
	free(b.keys);
	if (b.groups->num_groups <= max_groups)
		return b.groups;
	queue_groups_destroy(b.groups);
	return NULL;
}

struct queue_groups *queue_groups_create(const struct queue_waits *waits,
					 const struct stack_facts *facts,
					 const struct rankset *ranks, const struct rankset *apart,
					 size_t max_groups)
{
	struct queue_groups *groups = make_groups(waits, facts, ranks, apart, false, max_groups);

	if (!groups)
		groups = make_groups(waits, facts, ranks, apart, true, SIZE_MAX);
	if (groups->num_groups)
		qsort(groups->groups, groups->num_groups, sizeof(*groups->groups), compare_groups);
	return groups;
}

void queue_groups_destroy(struct queue_groups *groups)
{
	if (!groups)
		return;
	for (size_t g = 0; g < groups->num_groups; g++) {
		rankset_destroy(groups->groups[g].ranks);
		rankset_destroy(groups->groups[g].peers);
		rankset_destroy(groups->groups[g].alike);
	}
	free(groups->groups);
	free(groups);
}
