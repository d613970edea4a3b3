/* SPDX-License-Identifier: BSD-3-Clause
 * The branches of a tree in time. */
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/calltree_private.h"
#include "analysis/stacks/temporal.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

/* What is known of the stacks' order, and the stacks of the siblings at hand. */
struct ordering {
	const struct temporal_result *order;
	size_t num_groups;
	bool *is_before; /* [groups][groups] */
};

static struct ordering begin(const struct temporal_result *order)
{
	size_t num = order->num_groups;
	struct ordering o = {
		.order = order,
		.num_groups = num,
		.is_before = xcalloc(num * num + 1, sizeof(*o.is_before)),
	};

	for (size_t a = 0; a < num; a++) {
		for (size_t b = a + 1; b < num; b++) {
			enum temporal_order which = temporal_order_of(order, a, b, NULL);

			o.is_before[a * num + b] = which == TEMPORAL_BEFORE;
			o.is_before[b * num + a] = which == TEMPORAL_AFTER;
		}
	}
	return o;
}

/* Which groups have ranks there? */
static void find_groups(const struct ordering *o, const struct rankset *ranks, bool *holds)
{
	for (size_t i = 0; i < o->num_groups; i++) {
		struct rankset *both = rankset_copy(ranks);

		rankset_keep_set(both, o->order->groups[i].ranks);
		holds[i] = !rankset_is_empty(both);
		rankset_destroy(both);
	}
}

/* Is each stack of one branch before each of the other? */
static bool is_before(const struct ordering *o, const bool *a, const bool *b)
{
	bool has_any = false;

	for (size_t i = 0; i < o->num_groups; i++) {
		for (size_t j = 0; a[i] && j < o->num_groups; j++) {
			if (!b[j])
				continue;
			if (!o->is_before[i * o->num_groups + j])
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

	for (size_t i = 0; i < num; i++) {
		for (size_t j = 0; j < num; j++) {
			if (!before[i * num + j])
				continue;
			tree->nodes[siblings[i]].time = tree->nodes[siblings[j]].time = 1;
			has_any = true;
		}
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

/* Earlier ones first, then those without a number; equal ones stay as they were. */
static void arrange(const struct calltree *tree, uint32_t *siblings, size_t num)
{
	for (size_t i = 1; i < num; i++) {
		uint32_t moved = siblings[i], time = tree->nodes[moved].time - 1;
		size_t k = i;

		/* No number, 0, becomes the last. */
		for (; k > 0 && time < tree->nodes[siblings[k - 1]].time - 1; k--)
			siblings[k] = siblings[k - 1];
		siblings[k] = moved;
	}
}

static bool order_siblings(struct calltree *tree, const struct ordering *o, uint32_t *siblings,
			   size_t num)
{
	bool *before, *holds, has_any;

	if (num < 2)
		return false;
	before = xcalloc(num * num, sizeof(*before));
	holds = xcalloc(num * o->num_groups + 1, sizeof(*holds));
	for (size_t i = 0; i < num; i++)
		find_groups(o, tree->nodes[siblings[i]].ranks, holds + i * o->num_groups);
	for (size_t i = 0; i < num; i++)
		for (size_t j = 0; j < num; j++)
			before[i * num + j] = i != j && is_before(o, holds + i * o->num_groups,
								  holds + j * o->num_groups);
	has_any = number(tree, before, siblings, num);
	arrange(tree, siblings, num);
	free(holds);
	free(before);
	return has_any;
}

bool calltree_order(struct calltree *tree, const struct temporal_result *order)
{
	struct ordering o = begin(order);
	size_t num_roots = 0;
	bool has_any;

	while (num_roots < tree->num_roots && !tree->nodes[tree->roots[num_roots]].is_helper)
		num_roots++;
	has_any = order_siblings(tree, &o, tree->roots, num_roots);
	for (size_t n = 0; n < tree->num_nodes; n++)
		if (!tree->nodes[n].is_helper)
			has_any |= order_siblings(tree, &o, tree->nodes[n].children,
						  tree->nodes[n].num_children);
	free(o.is_before);
	return has_any;
}
