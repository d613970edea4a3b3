/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks with the same stacks, and one of each to look at. */
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/calltree.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/label.h"
#include "render/text.h"
#include "render/tree.h"
#include "render/view.h"

#define NO_NODE UINT32_MAX

enum { INDENT = 4 };

/* The nodes that stacks of the class go through. The caller frees. */
static bool *find_nodes(const struct calltree *tree, const struct calltree_class *class)
{
	bool *nodes = xcalloc(tree->num_nodes + 1, sizeof(*nodes));

	for (size_t i = 0; i < class->num_ends; i++)
		for (uint32_t n = class->ends[i]; n != NO_NODE && !nodes[n];
		     n = tree->nodes[n].parent)
			nodes[n] = true;
	return nodes;
}

static void draw_stacks(const struct view *view, const struct calltree *tree,
			const struct calltree_class *class)
{
	bool *nodes = find_nodes(tree, class);
	uint32_t *drawn = xcalloc(tree->num_nodes + 1, sizeof(*drawn));
	struct tree *drawing = tree_create();

	for (uint32_t n = 0; n < tree->num_nodes; n++) {
		uint32_t parent = tree->nodes[n].parent;
		char *place, *text;

		if (!nodes[n])
			continue;
		place = label_frame(view->job, tree, n);
		text = xasprintf("%s%s", place,
				 parent == NO_NODE && tree->nodes[n].is_helper
					 ? "  (a thread of the MPI library)"
					 : "");
		drawn[n] = tree_add(drawing, parent == NO_NODE ? TREE_ROOT : drawn[parent], text);
		free(place);
		free(text);
	}
	tree_print_indented(drawing, view, INDENT);
	tree_destroy(drawing);
	free(drawn);
	free(nodes);
}

void view_classes(const struct view *view)
{
	const struct calltree *tree = view->answer->tree;
	struct calltree_classes *classes = calltree_classes_create(tree);

	for (size_t i = 0; i < classes->num_classes; i++) {
		const struct calltree_class *class = &classes->classes[i];
		char *ranks = label_ranks(class->ranks, view->width - 30);

		fprintf(view->out, "class %zu  %s  e.g. rank %d\n", i + 1, ranks,
			rankset_first(class->ranks));
		draw_stacks(view, tree, class);
		free(ranks);
	}
	if (!classes->num_classes)
		text_wrap(view, 0, "There is no stack to show.");
}
