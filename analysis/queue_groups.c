/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "analysis/queue_waits.h"
#include "analysis/stack_facts.h"
#include "model/callpath.h"
#include "model/rankset.h"
#include "model/xalloc.h"

/* What ranks have in common that wait alike. */
struct key {
	uint32_t function;
	bool is_apart;
	const struct queue_wait *wait; /* NULL: not known */
};

static bool is_same(const struct key *a, const struct key *b)
{
	if (a->function != b->function || a->is_apart != b->is_apart || !a->wait != !b->wait)
		return false;
	return !a->wait || (a->wait->kind == b->wait->kind && a->wait->tag == b->wait->tag &&
			    a->wait->is_any == b->wait->is_any && strcmp(a->wait->comm, b->wait->comm) == 0);
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

struct queue_groups *queue_groups_create(const struct queue_waits *waits, const struct stack_facts *facts,
					 const struct rankset *ranks, const struct rankset *apart)
{
	struct queue_groups *groups = xcalloc(1, sizeof(*groups));
	struct key *keys = NULL;
	size_t capacity = 0, keys_capacity = 0;

	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r)) {
		const struct stack_fact *fact = stack_facts_get(facts, r);
		const struct queue_wait *of_rank;
		size_t num = queue_waits_of(waits, r, &of_rank), g = 0;
		struct key key = {fact->function, rankset_contains(apart, r), num ? of_rank : NULL};

		if (!fact->num_samples || fact->function == CALLPATH_NONE)
			continue;
		while (g < groups->num_groups && !is_same(&keys[g], &key))
			g++;
		if (g == groups->num_groups) {
			keys = xgrow(keys, g, &keys_capacity, sizeof(*keys));
			groups->groups = xgrow(groups->groups, g, &capacity, sizeof(*groups->groups));
			keys[g] = key;
			groups->groups[g] = (struct queue_group){rankset_create(), rankset_create(),
								 num ? *of_rank : (struct queue_wait){.rank = r}};
			groups->num_groups++;
		}
		rankset_add(groups->groups[g].ranks, r);
		for (size_t i = 0; i < num; i++)
			rankset_add(groups->groups[g].peers, of_rank[i].peer);
	}
	if (groups->num_groups)
		qsort(groups->groups, groups->num_groups, sizeof(*groups->groups), compare_groups);
	free(keys);
	return groups;
}

void queue_groups_destroy(struct queue_groups *groups)
{
	if (!groups)
		return;
	for (size_t g = 0; g < groups->num_groups; g++) {
		rankset_destroy(groups->groups[g].ranks);
		rankset_destroy(groups->groups[g].peers);
	}
	free(groups->groups);
	free(groups);
}
