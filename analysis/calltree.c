/* SPDX-License-Identifier: BSD-3-Clause
 * Equal paths are joined first, so that names are compared once for each different stack. */
#include <stdlib.h>
#include <string.h>

#include "analysis/calltree.h"
#include "model/callpath.h"
#include "model/job.h"
#include "model/modules.h"
#include "model/names.h"
#include "model/rankset.h"
#include "model/sample.h"
#include "model/xalloc.h"

#define NO_NODE UINT32_MAX

struct builder {
	const struct job *job;
	enum calltree_frames frames;
	bool fold_mpi;
	struct calltree *tree;
	size_t nodes_capacity, roots_capacity;
	size_t *children_capacity; /* [nodes] */
	size_t children_capacity_capacity;
	/* [call path nodes] the tree node for a path, NO_NODE: not known yet. */
	uint32_t *node_of;
	uint32_t *way; /* for walking a path from its outermost frame */
};

/* ---- Frames ----------------------------------------------------------------------------------- */

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Do two paths' innermost frames share a node under one parent? */
static bool is_same_frame(const struct builder *b, uint32_t a, uint32_t c)
{
	const struct callpath_node *x = callpaths_get(b->job->callpaths, a);
	const struct callpath_node *y = callpaths_get(b->job->callpaths, c);
	const struct name *name_x, *name_y;

	if (x->module != y->module)
		return false;
	if (x->offset == y->offset && x->is_return == y->is_return)
		return true;
	if (b->frames == CALLTREE_ADDRESS)
		return false;
	name_x = names_get(b->job->names, a);
	name_y = names_get(b->job->names, c);
	if (!name_x->is_symbol || !name_y->is_symbol ||
	    !is_same_text(name_x->function, name_y->function))
		return false;
	if (b->frames == CALLTREE_FUNCTION)
		return true;
	/* Without line information all of a function is one line: siblings that read the same would
	 * only puzzle. */
	return name_x->line == name_y->line && is_same_text(name_x->full_file, name_y->full_file);
}

static bool is_of_kind(const struct builder *b, uint32_t path, enum module_kind kind)
{
	uint32_t module = callpaths_get(b->job->callpaths, path)->module;

	return module != MODULE_NONE && modules_get(b->job->modules, module)->kind == kind;
}

/* Frames that tell the reader nothing: below the first of MPI, and our own on the way there. */
static bool is_hidden(const struct builder *b, uint32_t parent, uint32_t path)
{
	return b->fold_mpi && parent != NO_NODE &&
	       (is_of_kind(b, path, MODULE_RECORDER) ||
		is_of_kind(b, b->tree->nodes[parent].path, MODULE_MPI));
}

/* ---- Nodes ------------------------------------------------------------------------------------ */

static uint32_t add_node(struct builder *b, uint32_t parent, uint32_t path)
{
	struct calltree *tree = b->tree;
	uint32_t index = (uint32_t)tree->num_nodes;

	tree->nodes = xgrow(tree->nodes, index, &b->nodes_capacity, sizeof(*tree->nodes));
	b->children_capacity = xgrow(b->children_capacity, index, &b->children_capacity_capacity,
				     sizeof(*b->children_capacity));
	b->children_capacity[index] = 0;
	tree->nodes[tree->num_nodes++] = (struct calltree_node){
		.path = path,
		.parent = parent,
		.ranks = rankset_create(),
		.ends = rankset_create(),
	};
	if (parent == NO_NODE) {
		tree->roots = xgrow(tree->roots, tree->num_roots, &b->roots_capacity,
				    sizeof(*tree->roots));
		tree->roots[tree->num_roots++] = index;
	} else {
		struct calltree_node *node = &tree->nodes[parent];

		node->children = xgrow(node->children, node->num_children,
				       &b->children_capacity[parent], sizeof(*node->children));
		node->children[node->num_children++] = index;
	}
	return index;
}

static uint32_t find_child(struct builder *b, uint32_t parent, uint32_t path)
{
	const struct calltree *tree = b->tree;
	const uint32_t *children = tree->roots;
	size_t num = tree->num_roots;

	if (parent != NO_NODE) {
		children = tree->nodes[parent].children;
		num = tree->nodes[parent].num_children;
	}
	for (size_t i = 0; i < num; i++)
		if (is_same_frame(b, tree->nodes[children[i]].path, path))
			return children[i];
	return add_node(b, parent, path);
}

/* The node of a path: of its ancestors first. */
static uint32_t find_node(struct builder *b, uint32_t path)
{
	uint32_t at = path, node = NO_NODE;
	size_t num = 0;

	while (at != CALLPATH_NONE && b->node_of[at] == NO_NODE) {
		b->way[num++] = at;
		at = callpaths_get(b->job->callpaths, at)->parent;
	}
	if (at != CALLPATH_NONE)
		node = b->node_of[at];
	while (num > 0) {
		at = b->way[--num];
		if (!is_hidden(b, node, at))
			node = find_child(b, node, at);
		b->node_of[at] = node;
	}
	return node;
}

/* ---- Order ------------------------------------------------------------------------------------ */

static int compare_sets(const struct rankset *a, const struct rankset *b)
{
	int count_a = rankset_count(a), count_b = rankset_count(b);

	if (count_a != count_b)
		return count_a > count_b ? -1 : 1;
	return rankset_first(a) - rankset_first(b);
}

static void sort_indexes(const struct calltree *tree, uint32_t *indexes, size_t num)
{
	/* Siblings are few; stable, so that equal sets stay in the order first seen. */
	for (size_t i = 1; i < num; i++) {
		uint32_t moved = indexes[i];
		size_t k = i;

		for (; k > 0 && compare_sets(tree->nodes[moved].ranks,
					     tree->nodes[indexes[k - 1]].ranks) < 0;
		     k--)
			indexes[k] = indexes[k - 1];
		indexes[k] = moved;
	}
}

/* Is the next sample one of the same thread, later? */
static bool is_outdated(const struct samples *samples, size_t i)
{
	const struct sample *sample = &samples->samples[i];

	return i + 1 < samples->num_samples && sample[1].rank == sample->rank &&
	       sample[1].tid == sample->tid && sample[1].path != CALLPATH_NONE;
}

static void add_samples(struct builder *b, const struct rankset *ranks, bool all_threads)
{
	const struct samples *samples = b->job->samples;

	for (size_t i = 0; i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];
		uint32_t node;

		if (sample->path == CALLPATH_NONE || sample->rank < 0 || is_outdated(samples, i) ||
		    (!all_threads && !sample->is_main) ||
		    (ranks && !rankset_contains(ranks, sample->rank)))
			continue;
		node = find_node(b, sample->path);
		rankset_add(b->tree->nodes[node].ends, sample->rank);
	}
}

struct calltree *calltree_create(const struct job *job, const struct rankset *ranks,
				 enum calltree_frames frames, int fold_mpi, int all_threads)
{
	size_t num_paths = callpaths_count(job->callpaths);
	struct calltree *tree = xcalloc(1, sizeof(*tree));
	struct builder b = {
		.job = job,
		.frames = frames,
		.fold_mpi = fold_mpi,
		.tree = tree,
		.node_of = xcalloc(num_paths, sizeof(*b.node_of)),
		.way = xcalloc(num_paths, sizeof(*b.way)),
	};

	for (size_t i = 0; i < num_paths; i++)
		b.node_of[i] = NO_NODE;
	add_samples(&b, ranks, all_threads);
	for (size_t i = tree->num_nodes; i-- > 0;) {
		struct calltree_node *node = &tree->nodes[i];

		rankset_add_set(node->ranks, node->ends);
		if (node->parent != NO_NODE)
			rankset_add_set(tree->nodes[node->parent].ranks, node->ranks);
	}
	for (size_t i = 0; i < tree->num_nodes; i++)
		sort_indexes(tree, tree->nodes[i].children, tree->nodes[i].num_children);
	sort_indexes(tree, tree->roots, tree->num_roots);
	free(b.children_capacity);
	free(b.node_of);
	free(b.way);
	return tree;
}

void calltree_destroy(struct calltree *tree)
{
	if (!tree)
		return;
	for (size_t i = 0; i < tree->num_nodes; i++) {
		free(tree->nodes[i].children);
		rankset_destroy(tree->nodes[i].ranks);
		rankset_destroy(tree->nodes[i].ends);
	}
	free(tree->nodes);
	free(tree->roots);
	free(tree);
}
