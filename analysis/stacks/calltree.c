/* SPDX-License-Identifier: BSD-3-Clause
 * Equal paths are joined first, so that names are compared once for each different stack. */
#include "analysis/stacks/calltree_private.h"
#include "model/arena.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/sorted.h"

struct builder {
	const struct job *job;
	const struct calltree_options *options;
	struct calltree *tree;
	/* [call path nodes] the tree node for a path, or NO_NODE; and for threads of MPI's own. */
	uint32_t *node_of, *helper_of;
	uint32_t *way; /* for walking a path from its outermost frame */
};

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

const struct name *calltree_name(const struct calltree *tree, uint32_t node)
{
	return names_at(tree->job->names, tree->nodes[node].path, tree->nodes[node].level);
}

/* Do a function in a path's innermost frame and a node share that under one parent? */
static bool is_same_frame(const struct calltree *tree, uint32_t node, uint32_t path, uint32_t level)
{
	const struct calltree_node *known = &tree->nodes[node];
	const struct callpath_node *x = callpaths_get(tree->job->callpaths, known->path);
	const struct callpath_node *y = callpaths_get(tree->job->callpaths, path);
	const struct name *name_x, *name_y;

	if (x->module != y->module)
		return false;
	if (x->offset == y->offset && x->is_return == y->is_return && known->level == level)
		return true;
	if (tree->frames == CALLTREE_ADDRESS)
		return false;
	name_x = calltree_name(tree, node);
	name_y = names_at(tree->job->names, path, level);
	if (!name_x->is_symbol || !name_y->is_symbol ||
	    !is_same_text(name_x->function, name_y->function))
		return false;
	if (tree->frames == CALLTREE_FUNCTION)
		return true;
	/* Without lines a function is one line: siblings that read the same would only puzzle. */
	return name_x->line == name_y->line && is_same_text(name_x->full_file, name_y->full_file);
}

/* Frames that tell the reader nothing: below the first of MPI, but for the handler of a signal, our
 * own on the way there, and the one that begins a region of OpenMP. */
static bool is_hidden(const struct builder *b, uint32_t parent, uint32_t path)
{
	enum module_kind kind = calltree_kind(b->job, path);

	return b->options->fold && parent != NO_NODE &&
	       (kind == MODULE_RECORDER ||
		(calltree_kind(b->job, b->tree->nodes[parent].path) == MODULE_MPI &&
		 kind != MODULE_SIGNAL) ||
		calltree_begins_region(b->job, path));
}

struct calltree *calltree_begin(const struct job *job, enum calltree_frames frames)
{
	struct arena *arena = arena_create();
	struct calltree *tree = arena_alloc(arena, sizeof(*tree));

	tree->arena = arena;
	tree->job = job;
	tree->frames = frames;
	return tree;
}

static uint32_t add_node(struct calltree *tree, uint32_t parent, uint32_t path, uint32_t level,
			 bool is_helper)
{
	uint32_t index = (uint32_t)tree->num_nodes;

	tree->nodes = arena_grow(tree->arena, tree->nodes, index, &tree->nodes_capacity,
				 sizeof(*tree->nodes));
	tree->nodes[tree->num_nodes++] = (struct calltree_node){
		.path = path,
		.level = level,
		.parent = parent,
		.ranks = rankset_in(tree->arena, rankset_create()),
		.ends = rankset_in(tree->arena, rankset_create()),
		.is_helper = parent == NO_NODE ? is_helper : tree->nodes[parent].is_helper,
	};
	if (parent == NO_NODE) {
		*ARENA_PUSH(tree->arena, tree->roots, tree->num_roots, tree->roots_capacity) =
			index;
	} else {
		struct calltree_node *node = &tree->nodes[parent];

		*ARENA_PUSH(tree->arena, node->children, node->num_children, node->capacity) =
			index;
	}
	return index;
}

uint32_t calltree_child(struct calltree *tree, uint32_t parent, uint32_t path, uint32_t level,
			bool is_helper)
{
	const uint32_t *children = tree->roots;
	size_t num = tree->num_roots;

	if (parent != NO_NODE) {
		children = tree->nodes[parent].children;
		num = tree->nodes[parent].num_children;
	}
	for (size_t i = 0; i < num; i++) {
		const struct calltree_node *child = &tree->nodes[children[i]];

		if ((parent != NO_NODE || child->is_helper == is_helper) &&
		    is_same_frame(tree, children[i], path, level))
			return children[i];
	}
	return add_node(tree, parent, path, level, is_helper);
}

/* The node below `parent` for the functions of the innermost frame of `path`, from its own to the
 * innermost that is inlined. Those inlined into one of MPI are hidden as what that calls is. */
static uint32_t add_frame(struct builder *b, uint32_t parent, uint32_t path, bool is_helper)
{
	size_t last = name_level(names_innermost(b->job->names, path));

	for (uint32_t level = 0; level <= last; level++)
		if (!is_hidden(b, parent, path))
			parent = calltree_child(b->tree, parent, path, level, is_helper);
	return parent;
}

/* The node below `node` for the frames of `path` that lie within `outer`. */
static uint32_t add_frames(struct builder *b, uint32_t node, uint32_t path, uint32_t outer)
{
	size_t num = 0;

	for (; path != outer; path = callpaths_get(b->job->callpaths, path)->parent)
		b->way[num++] = path;
	while (num > 0)
		node = add_frame(b, node, b->way[--num], false);
	return node;
}

/* The node of a path: of its ancestors first. */
static uint32_t find_node(struct builder *b, uint32_t path, bool is_helper)
{
	uint32_t *node_of = is_helper ? b->helper_of : b->node_of;
	uint32_t at = path, node = NO_NODE;
	size_t num = 0;

	while (at != CALLPATH_NONE && node_of[at] == NO_NODE) {
		b->way[num++] = at;
		at = callpaths_get(b->job->callpaths, at)->parent;
	}
	if (at != CALLPATH_NONE)
		node = node_of[at];
	while (num > 0) {
		at = b->way[--num];
		node = add_frame(b, node, at, is_helper);
		node_of[at] = node;
	}
	return node;
}

static int compare_nodes(const struct calltree_node *a, const struct calltree_node *b)
{
	return SORTED_ORDER(a->is_helper, b->is_helper)
		       ?: SORTED_ORDER(rankset_count(b->ranks), rankset_count(a->ranks))
		       ?: rankset_first(a->ranks) - rankset_first(b->ranks);
}

void calltree_sort(const struct calltree *tree, uint32_t *siblings, size_t num,
		   calltree_order_fn compare)
{
	/* They are few. */
	for (size_t i = 1; i < num; i++) {
		uint32_t moved = siblings[i];
		size_t k = i;

		for (; k > 0 && compare(&tree->nodes[moved], &tree->nodes[siblings[k - 1]]) < 0;
		     k--)
			siblings[k] = siblings[k - 1];
		siblings[k] = moved;
	}
}

static int count_ranks(const struct calltree *tree)
{
	struct rankset *all SCOPED(rankset) = rankset_create();

	for (size_t i = 0; i < tree->num_roots; i++)
		if (!tree->nodes[tree->roots[i]].is_helper)
			rankset_add_set(all, tree->nodes[tree->roots[i]].ranks);
	return rankset_count(all);
}

void calltree_finish(struct calltree *tree)
{
	for (size_t i = tree->num_nodes; i-- > 0;) {
		struct calltree_node *node = &tree->nodes[i];

		rankset_add_set(node->ranks, node->ends);
		node->seen += node->seen_ends;
		node->workers += node->worker_ends;
		if (node->seen > (uint64_t)rankset_count(node->ranks))
			tree->has_repeats = true;
		if (node->parent == NO_NODE)
			continue;
		rankset_add_set(tree->nodes[node->parent].ranks, node->ranks);
		tree->nodes[node->parent].seen += node->seen;
		tree->nodes[node->parent].workers += node->workers;
	}
	for (size_t i = 0; i < tree->num_nodes; i++)
		calltree_sort(tree, tree->nodes[i].children, tree->nodes[i].num_children,
			      compare_nodes);
	calltree_sort(tree, tree->roots, tree->num_roots, compare_nodes);
	tree->num_ranks = count_ranks(tree);
}

/* Is the next sample one of the same thread, later? */
static bool is_outdated(const struct samples *samples, size_t i)
{
	const struct sample *sample = &samples->samples[i];

	return i + 1 < samples->num_samples && sample[1].rank == sample->rank &&
	       sample[1].tid == sample->tid && sample[1].path != CALLPATH_NONE;
}

/* Where a stack ends that is none of the main thread, which has samples from `first` on. */
static uint32_t find_thread_node(struct builder *b, size_t first, const struct sample *sample)
{
	const struct sample *main = &b->job->samples->samples[first];
	struct calltree_region region;
	uint32_t node, outer;
	size_t num = 0;

	while (&main[num] < sample && main[num].is_main)
		num++;
	if (!calltree_find_region(b->job, main, num, sample, &region))
		return find_node(b, sample->path, calltree_is_helper(b->job, sample->path));
	node = find_node(b,
			 b->options->fold ? callpaths_get(b->job->callpaths, region.begun)->parent
					  : region.begun,
			 false);
	outer = callpaths_get(b->job->callpaths, region.worker)->parent;
	node = add_frames(b, node, sample->path, outer);
	b->tree->nodes[node].worker_ends++;
	return node;
}

static void add_samples(struct builder *b, const struct rankset *ranks)
{
	const struct samples *samples = b->job->samples;
	size_t first = 0; /* sample of the rank at hand */

	for (size_t i = 0; i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];
		uint32_t node;

		if (sample->rank != samples->samples[first].rank)
			first = i;
		if (sample->path == CALLPATH_NONE || sample->rank < 0 ||
		    (!b->options->over_time && is_outdated(samples, i)) ||
		    (!b->options->all_threads && !sample->is_main) ||
		    (ranks && !rankset_contains(ranks, sample->rank)))
			continue;
		node = sample->is_main ? find_node(b, sample->path, false)
				       : find_thread_node(b, first, sample);
		rankset_add(b->tree->nodes[node].ends, sample->rank);
		b->tree->nodes[node].seen_ends++;
	}
}

static uint32_t *make_map(struct arena *arena, size_t num)
{
	uint32_t *map = arena_array(arena, num, sizeof(*map));

	for (size_t i = 0; i < num; i++)
		map[i] = NO_NODE;
	return map;
}

struct calltree *calltree_create(const struct job *job, const struct rankset *ranks,
				 const struct calltree_options *options)
{
	size_t num_paths = callpaths_count(job->callpaths);
	struct calltree *tree = calltree_begin(job, options->frames);
	struct arena *scratch SCOPED(arena) = arena_create();
	struct builder b = {
		.job = job,
		.options = options,
		.tree = tree,
		.node_of = make_map(scratch, num_paths),
		.helper_of = make_map(scratch, num_paths),
		.way = arena_array(scratch, num_paths, sizeof(*b.way)),
	};

	add_samples(&b, ranks);
	calltree_finish(tree);
	return tree;
}

void calltree_destroy(struct calltree *tree)
{
	if (tree)
		arena_destroy(tree->arena);
}
