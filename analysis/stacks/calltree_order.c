/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/stacks/calltree_private.h"
#include "analysis/stacks/temporal.h"
#include "model/job/rankset.h"
#include "model/sorted.h"
#include "model/xalloc.h"

/* Is each stack of one branch before each of the other? */
static bool is_before(const struct temporal_result *order, const bool *a, const bool *b)
{
	bool has_any = false;

	for (size_t i = 0; i < order->num_groups; i++) {
		for (size_t j = 0; a[i] && j < order->num_groups; j++) {
			if (!b[j])
				continue;
			if (!temporal_is_before(order, i, j))
				return false;
			has_any = true;
		}
	}
	return has_any;
}

/* Numbers along the longest chains: as many rounds as there are siblings are enough. */
static bool number(struct calltree *tree, const bool *before, const uint32_t *siblings, size_t num)
{
	bool has_changed = true, has_any = false;

	for (size_t i = 0; i < num; i++)
		for (size_t j = 0; j < num; j++)
			if (before[i * num + j]) {
				tree->nodes[siblings[i]].time = 1;
				tree->nodes[siblings[j]].time = 1;
				has_any = true;
			}
	for (size_t round = 0; round < num && has_changed; round++) {
		has_changed = false;
		for (size_t i = 0; i < num; i++) {
			for (size_t j = 0; j < num; j++) {
				uint32_t time = tree->nodes[siblings[i]].time + 1;

				if (!before[i * num + j] || tree->nodes[siblings[j]].time >= time)
					continue;
				tree->nodes[siblings[j]].time = time;
				has_changed = true;
			}
		}
	}
	return has_any;
}

/* Earlier ones first, then those without a number: 0 becomes the last. */
static int by_time(const struct calltree_node *a, const struct calltree_node *b)
{
	return SORTED_ORDER(a->time - 1, b->time - 1);
}

static bool order_siblings(struct calltree *tree, const struct temporal_result *order,
			   uint32_t *siblings, size_t num)
{
	size_t num_groups = order->num_groups;
	bool *before, *holds, has_any;

	if (num < 2)
		return false;
	before = xcalloc(num * num, sizeof(*before));
	/* Which groups have ranks there. */
	holds = xcalloc(num * num_groups + 1, sizeof(*holds));
	for (size_t i = 0; i < num; i++)
		for (size_t g = 0; g < num_groups; g++)
			holds[i * num_groups + g] = rankset_meets(tree->nodes[siblings[i]].ranks,
								  order->groups[g].ranks);
	for (size_t i = 0; i < num; i++)
		for (size_t j = 0; j < num; j++)
			before[i * num + j] = i != j && is_before(order, holds + i * num_groups,
								  holds + j * num_groups);
	has_any = number(tree, before, siblings, num);
	calltree_sort(tree, siblings, num, by_time);
	free(holds);
	free(before);
	return has_any;
}

bool calltree_order(struct calltree *tree, const struct temporal_result *order)
{
	size_t num_roots = 0;
	bool has_any;

	while (num_roots < tree->num_roots && !tree->nodes[tree->roots[num_roots]].is_helper)
		num_roots++;
	has_any = order_siblings(tree, order, tree->roots, num_roots);
	for (size_t n = 0; n < tree->num_nodes; n++)
		if (!tree->nodes[n].is_helper)
			has_any |= order_siblings(tree, order, tree->nodes[n].children,
						  tree->nodes[n].num_children);
	return has_any;
}
