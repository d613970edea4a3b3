/* SPDX-License-Identifier: BSD-3-Clause
 * Merged back traces. */
#include <stdlib.h>
#include <string.h>

#include "analysis/calltree.h"
#include "analysis/verdict.h"
#include "model/callpath.h"
#include "model/job.h"
#include "model/modules.h"
#include "model/names.h"
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

static bool is_of_kind(const struct job *job, uint32_t path, enum module_kind kind)
{
	const struct callpath_node *frame;

	if (path == CALLPATH_NONE)
		return false;
	frame = callpaths_get(job->callpaths, path);
	return frame->module != MODULE_NONE &&
	       modules_get(job->modules, frame->module)->kind == kind;
}

/* Frames that tell nothing of the program: those of the recorder, and above main() or a thread's
 * function those that start it. A frame in which a rank's stack ends is shown. The caller frees. */
static bool *find_hidden(const struct job *job, const struct calltree *tree)
{
	bool *is_hidden = xcalloc(tree->num_nodes, sizeof(*is_hidden));

	for (size_t n = 0; n < tree->num_nodes; n++) {
		const struct calltree_node *node = &tree->nodes[n];
		bool is_start = is_of_kind(job, node->path, MODULE_SYSTEM) ||
				!strcmp(names_get(job->names, node->path)->function, "_start");

		if (node->parent != UINT32_MAX &&
		    (!is_hidden[node->parent] ||
		     is_of_kind(job, tree->nodes[node->parent].path, MODULE_RECORDER)))
			is_start = false;
		is_hidden[n] = (is_start || is_of_kind(job, node->path, MODULE_RECORDER)) &&
			       (!node->ends || rankset_is_empty(node->ends));
	}
	return is_hidden;
}

/* The nearest frame outwards that is shown; UINT32_MAX if there is none. */
static uint32_t shown_parent(const struct calltree *tree, const bool *is_hidden, uint32_t node)
{
	do
		node = tree->nodes[node].parent;
	while (node != UINT32_MAX && is_hidden[node]);
	return node;
}

/* Where the tree divides, or ranks end on the way, the ranks are named; below that only frames. */
void view_calltree(const struct view *view, const struct calltree *tree)
{
	struct tree *drawing = tree_create();
	bool *is_hidden = find_hidden(view->job, tree);
	uint32_t *drawn = xcalloc(tree->num_nodes, sizeof(*drawn));
	int *hang = xcalloc(tree->num_nodes, sizeof(*hang));

	for (uint32_t n = 0; n < tree->num_nodes; n++) {
		const struct calltree_node *node = &tree->nodes[n];
		uint32_t parent = shown_parent(tree, is_hidden, n);
		char *place, *ranks, *text;

		if (is_hidden[n])
			continue;
		place = label_place(view->job, node->path, LABEL_SHORT);
		ranks = label_ranks(node->ranks, RANKS_WIDTH);
		if (parent != UINT32_MAX && rankset_equal(tree->nodes[parent].ranks, node->ranks)) {
			hang[n] = hang[parent];
			text = xasprintf("%*s%s", hang[n], "", place);
		} else {
			hang[n] = (int)strlen(ranks) + 1;
			text = xasprintf("%s %s", ranks, place);
		}
		drawn[n] =
			tree_add(drawing, parent == UINT32_MAX ? TREE_ROOT : drawn[parent], text);
		if (is_culprit(view, node->ranks))
			tree_mark(drawing, drawn[n]);
		free(place);
		free(text);
		free(ranks);
	}
	tree_print(drawing, view);
	if (!tree->num_nodes)
		text_wrap(view, 0, "There is no stack to show.");
	free(is_hidden);
	free(drawn);
	free(hang);
	tree_destroy(drawing);
}

void view_calltree_dot(const struct view *view, const struct calltree *tree)
{
	struct dot *dot = dot_create("call paths by rank", "frames");
	bool *is_hidden = find_hidden(view->job, tree);
	uint32_t *drawn = xcalloc(tree->num_nodes, sizeof(*drawn));

	for (uint32_t n = 0; n < tree->num_nodes; n++) {
		const struct calltree_node *node = &tree->nodes[n];
		uint32_t parent = shown_parent(tree, is_hidden, n);
		char *place, *ranks;

		if (is_hidden[n])
			continue;
		place = label_place(view->job, node->path, LABEL_SHORT);
		ranks = label_ranks(node->ranks, RANKS_WIDTH);
		/* Nodes with most ranks are kept, and among these parents before children. */
		drawn[n] = dot_node(dot, place, (uint64_t)rankset_count(node->ranks),
				    is_culprit(view, node->ranks) ? DOT_STRONG : DOT_PLAIN);
		if (parent != UINT32_MAX)
			dot_edge(dot, drawn[parent], drawn[n], ranks);
		free(place);
		free(ranks);
	}
	dot_write(dot, view->out);
	dot_destroy(dot);
	free(is_hidden);
	free(drawn);
}
