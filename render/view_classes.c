/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks with the same stacks, and one of each to look at. */
#include "analysis/stacks/calltree.h"
#include "model/arena.h"
#include "model/job/rankset.h"
#include "render/label.h"
#include "render/text.h"
#include "render/tree.h"
#include "render/view.h"

#define NO_NODE UINT32_MAX

enum { INDENT = 4 };

ARENA_DEFINE_IN(calltree_classes)

/* By node of the tree, for one class after the other. */
struct marks {
	size_t *class; /* the number of the last that goes through it */
	uint32_t *drawn;
};

static void draw_stacks(const struct view *view, const struct calltree_class *class, size_t number,
			struct marks *marks)
{
	const struct calltree *tree = view->answer->tree;
	struct tree *drawing = tree_create(view->arena);

	for (size_t i = 0; i < class->num_ends; i++)
		for (uint32_t n = class->ends[i]; n != NO_NODE && marks->class[n] != number;
		     n = tree->nodes[n].parent)
			marks->class[n] = number;
	for (uint32_t n = 0; n < tree->num_nodes; n++) {
		uint32_t parent = tree->nodes[n].parent;
		bool is_helper = parent == NO_NODE && tree->nodes[n].is_helper;

		if (marks->class[n] == number)
			marks->drawn[n] = tree_add(
				drawing, parent == NO_NODE ? TREE_ROOT : marks->drawn[parent],
				text_of(view, "%s%s", label_frame(view, tree, n),
					is_helper ? "  (a thread of the MPI library)" : ""));
	}
	tree_print_indented(drawing, view, INDENT);
}

void view_classes(const struct view *view)
{
	size_t num_nodes = view->answer->tree->num_nodes;
	const struct calltree_classes *classes =
		calltree_classes_in(view->arena, calltree_classes_create(view->answer->tree));
	struct marks marks = {arena_array(view->arena, num_nodes, sizeof(size_t)),
			      arena_array(view->arena, num_nodes, sizeof(uint32_t))};

	for (size_t i = 0; i < classes->num_classes; i++) {
		const struct calltree_class *class = &classes->classes[i];

		fprintf(view->out, "class %zu  %s  e.g. rank %d\n", i + 1,
			label_ranks(view->arena, class->ranks, view->width - 30),
			rankset_first(class->ranks));
		draw_stacks(view, class, i + 1, &marks);
	}
	if (!classes->num_classes)
		text_wrap(view, 0, "There is no stack to show.");
}
