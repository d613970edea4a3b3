/* SPDX-License-Identifier: BSD-3-Clause
 * All ranks are one class at first; each node in which stacks end parts every class into those that
 * have such a stack and those that have not. */
#include "analysis/stacks/calltree_private.h"
#include "model/arena.h"
#include "model/job/rankset.h"
#include "model/sorted.h"

struct parting {
	struct arena *arena;
	struct calltree_class *classes;
	size_t num, capacity;
};

static struct calltree_class *add_class(struct parting *p, struct rankset *ranks)
{
	p->classes = arena_grow(p->arena, p->classes, p->num, &p->capacity, sizeof(*p->classes));
	p->classes[p->num] = (struct calltree_class){.ranks = rankset_in(p->arena, ranks)};
	return &p->classes[p->num++];
}

static void add_end(struct arena *arena, struct calltree_class *class, uint32_t end)
{
	*ARENA_PUSH(arena, class->ends, class->num_ends, class->capacity) = end;
}

/* Take those that end there out of a class; if these are not all of it, they become another. */
static void part(struct parting *p, size_t i, const struct rankset *ends, uint32_t end)
{
	struct calltree_class *class;
	struct rankset *with;

	if (!rankset_meets(p->classes[i].ranks, ends))
		return;
	with = rankset_copy(p->classes[i].ranks);
	rankset_keep_set(with, ends);
	if (rankset_count(with) == rankset_count(p->classes[i].ranks)) {
		rankset_destroy(with);
		add_end(p->arena, &p->classes[i], end);
		return;
	}
	rankset_remove_set(p->classes[i].ranks, with);
	class = add_class(p, with);
	for (size_t k = 0; k < p->classes[i].num_ends; k++)
		add_end(p->arena, class, p->classes[i].ends[k]);
	add_end(p->arena, class, end);
}

static int compare_classes(const void *a, const void *b)
{
	const struct calltree_class *x = a, *y = b;

	return SORTED_ORDER(rankset_count(y->ranks), rankset_count(x->ranks))
		       ?: rankset_first(x->ranks) - rankset_first(y->ranks);
}

struct calltree_classes *calltree_classes_create(const struct calltree *tree)
{
	struct calltree_classes *classes = arena_alloc(tree->arena, sizeof(*classes));
	struct rankset *all = rankset_create();
	struct parting p = {.arena = tree->arena};

	for (size_t i = 0; i < tree->num_roots; i++)
		rankset_add_set(all, tree->nodes[tree->roots[i]].ranks);
	if (rankset_is_empty(all))
		rankset_destroy(all);
	else
		add_class(&p, all);
	for (uint32_t n = 0; n < tree->num_nodes; n++) {
		size_t num = p.num;

		for (size_t i = 0; i < num && !rankset_is_empty(tree->nodes[n].ends); i++)
			part(&p, i, tree->nodes[n].ends, n);
	}
	sorted_make(p.classes, p.num, sizeof(*p.classes), compare_classes);
	classes->classes = p.classes;
	classes->num_classes = p.num;
	return classes;
}
