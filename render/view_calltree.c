/* SPDX-License-Identifier: BSD-3-Clause
 * Merged back traces. */
#include <stdlib.h>
#include <string.h>

#include "analysis/calltree.h"
#include "analysis/verdict.h"
#include "model/job.h"
#include "model/rankset.h"
#include "model/xalloc.h"
#include "render/dot.h"
#include "render/label.h"
#include "render/text.h"
#include "render/tree.h"
#include "render/view.h"

enum { RANKS_WIDTH = 24 };

static bool is_culprit(const struct view *view, const struct rankset *ranks)
{
	int first = rankset_first(ranks);

	return view->verdict && first >= 0 && rankset_count(ranks) == 1 &&
	       rankset_contains(view->verdict->culprits, first);
}

/* Where the tree divides, or ranks end on the way, the ranks are named; below that only frames. */
void view_calltree(const struct view *view, const struct calltree *tree)
{
	struct tree *drawing = tree_create();
	uint32_t *drawn = xcalloc(tree->num_nodes, sizeof(*drawn));
	int *hang = xcalloc(tree->num_nodes, sizeof(*hang));

	for (size_t n = 0; n < tree->num_nodes; n++) {
		const struct calltree_node *node = &tree->nodes[n];
		bool is_root = node->parent == UINT32_MAX;
		bool is_same =
			!is_root && rankset_equal(tree->nodes[node->parent].ranks, node->ranks);
		char *place = label_place(view->job, node->path, LABEL_SHORT);
		char *text, *ranks = label_ranks(node->ranks, RANKS_WIDTH);

		if (is_same) {
			hang[n] = hang[node->parent];
			text = xasprintf("%*s%s", hang[n], "", place);
		} else {
			hang[n] = (int)strlen(ranks) + 1;
			text = xasprintf("%s %s", ranks, place);
		}
		drawn[n] = tree_add(drawing, is_root ? TREE_ROOT : drawn[node->parent], text);
		if (is_culprit(view, node->ranks))
			tree_mark(drawing, drawn[n]);
		free(place);
		free(text);
		free(ranks);
	}
	tree_print(drawing, view);
	if (!tree->num_nodes)
		text_wrap(view, 0, "There is no stack to show.");
	free(drawn);
	free(hang);
	tree_destroy(drawing);
}

void view_calltree_dot(const struct view *view, const struct calltree *tree)
{
	struct dot *dot = dot_create("call paths by rank", "frames");

	for (size_t n = 0; n < tree->num_nodes; n++) {
		const struct calltree_node *node = &tree->nodes[n];
		char *place = label_place(view->job, node->path, LABEL_SHORT);

		/* Nodes with most ranks are kept, and among these parents before children. */
		dot_node(dot, place, (uint64_t)rankset_count(node->ranks),
			 is_culprit(view, node->ranks) ? DOT_STRONG : DOT_PLAIN);
		if (node->parent != UINT32_MAX) {
			char *ranks = label_ranks(node->ranks, RANKS_WIDTH);

			dot_edge(dot, node->parent, (uint32_t)n, ranks);
			free(ranks);
		}
		free(place);
	}
	dot_write(dot, view->out);
	dot_destroy(dot);
}
