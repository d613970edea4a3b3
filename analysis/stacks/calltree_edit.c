/* SPDX-License-Identifier: BSD-3-Clause
 * Trees made of trees: each stack is taken as its chain of nodes, some of these are left out, and
 * the rest is put into a new tree, where stacks that have become equal meet. */
#include "analysis/stacks/calltree_private.h"
#include "model/arena.h"
#include "model/interrupt.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/sorted.h"
#include "model/xalloc.h"

/* Of a name, for a regular expression. */
enum { MAX_TEXT = 2000 };

static size_t depth_of(const struct calltree *tree, uint32_t node)
{
	size_t depth = 0;

	for (; node != NO_NODE; node = tree->nodes[node].parent)
		depth++;
	return depth;
}

static bool is_end(const struct calltree_node *node)
{
	return !rankset_is_empty(node->ends);
}

/* Add what ends in a node of another tree to the node for a chain of its nodes, outermost first. */
static void add_chain(struct calltree *into, const struct calltree *from, const uint32_t *chain,
		      size_t num, uint32_t end)
{
	const struct calltree_node *old = &from->nodes[end];
	uint32_t node = NO_NODE;

	for (size_t i = 0; i < num; i++) {
		const struct calltree_node *frame = &from->nodes[chain[i]];

		node = calltree_child(into, node, frame->path, frame->level, frame->is_helper);
	}
	rankset_add_set(into->nodes[node].ends, old->ends);
	into->nodes[node].seen_ends += old->seen_ends;
	into->nodes[node].worker_ends += old->worker_ends;
}

/* What is the same for all stacks that go through a node. */
struct marks {
	bool *search, *above, *below, *hide, *start;
};

static bool is_of_kind(const struct calltree *tree, uint32_t node, enum module_kind kind)
{
	const struct callpath_node *frame =
		callpaths_get(tree->job->callpaths, tree->nodes[node].path);

	return frame->module != MODULE_NONE &&
	       modules_get(tree->job->modules, frame->module)->kind == kind;
}

static bool is_wanted(const struct calltree_pattern *pattern)
{
	return pattern->is_mpi || pattern->expression;
}

static bool matches(const struct calltree *tree, uint32_t node, const regex_t *expression)
{
	const struct name *name = calltree_name(tree, node);
	const char *file = name->full_file ? name->full_file : name->file;
	/* Demangled C++ names end with their parameters. */
	const char *call = strchr(name->function, '(') || !name->is_symbol ? "" : "()";
	char *text SCOPED(free) = file ? xasprintf("%.*s%s at %.*s:%d", MAX_TEXT, name->function,
						   call, MAX_TEXT, file, name->line)
				       : xasprintf("%.*s%s", MAX_TEXT, name->function, call);
	/* Once all is to end, whoever asked for the tree drops it. */
	bool result = !interrupt_pending() && regexec(expression, text, 0, NULL, 0) == 0;

	return result;
}

static bool *find_matches(struct arena *arena, const struct calltree *tree,
			  const struct calltree_pattern *pattern)
{
	bool *found = arena_array(arena, tree->num_nodes, sizeof(*found));

	for (uint32_t n = 0; is_wanted(pattern) && n < tree->num_nodes; n++)
		found[n] = pattern->is_mpi ? is_of_kind(tree, n, MODULE_MPI)
					   : matches(tree, n, pattern->expression);
	return found;
}

/* "_start", or what has no name and only calls the C library: that of a stripped program. */
static bool is_entry(const struct calltree *tree, uint32_t n)
{
	const struct calltree_node *node = &tree->nodes[n];
	const struct name *name = calltree_name(tree, n);

	if (name->is_symbol)
		return strcmp(name->function, "_start") == 0;
	if (node->parent != NO_NODE || node->num_children == 0)
		return false;
	for (size_t i = 0; i < node->num_children; i++)
		if (!is_of_kind(tree, node->children[i], MODULE_SYSTEM))
			return false;
	return true;
}

/* Frames of the recorder, and above main() or a thread's function those that start it. */
static bool *find_starts(struct arena *arena, const struct calltree *tree, bool hides)
{
	bool *starts = arena_array(arena, tree->num_nodes, sizeof(*starts));

	for (uint32_t n = 0; hides && n < tree->num_nodes; n++) {
		const struct calltree_node *node = &tree->nodes[n];
		bool is_recorder = is_of_kind(tree, n, MODULE_RECORDER);
		bool is_start = is_of_kind(tree, n, MODULE_SYSTEM) || is_entry(tree, n);

		if (node->parent != NO_NODE &&
		    (!starts[node->parent] || is_of_kind(tree, node->parent, MODULE_RECORDER)))
			is_start = false;
		starts[n] = (is_start || is_recorder) && !is_end(node);
	}
	return starts;
}

/* Cut the chain of a stack: the first of what is left, and *num_ret. NULL: it is left out. */
static const uint32_t *cut(const struct marks *marks, const struct calltree_edit *edit,
			   const uint32_t *chain, size_t num, size_t *num_ret)
{
	bool is_found = !is_wanted(&edit->search);
	size_t first = 0, last;

	for (size_t i = 0; i < num && !is_found; i++)
		is_found = marks->search[chain[i]];
	while (is_wanted(&edit->above) && first < num && !marks->above[chain[first]])
		first++;
	if (!is_found || first == num)
		return NULL;
	for (last = first; last < num && !marks->below[chain[last]];)
		last++;
	*num_ret = last < num ? last + 1 - first : num - first;
	return chain + first;
}

/* Changes the chain. */
static void edit_stack(struct calltree *into, const struct calltree *tree,
		       const struct marks *marks, const struct calltree_edit *edit, uint32_t *chain,
		       size_t num, uint32_t end)
{
	size_t num_left = 0, num_kept = 0;
	const uint32_t *left;

	for (size_t i = 0; i < num; i++)
		if (!marks->start[chain[i]])
			chain[num_left++] = chain[i];
	left = cut(marks, edit, chain, num_left, &num_left);
	for (size_t i = 0; left && i < num_left; i++)
		if (!marks->hide[left[i]] && (edit->depth == 0 || num_kept < edit->depth))
			chain[num_kept++] = left[i];
	if (num_kept > 0)
		add_chain(into, tree, chain, num_kept, end);
}

/* The nodes from the root to `end`. */
static size_t take_chain(const struct calltree *tree, uint32_t end, uint32_t *chain)
{
	size_t num = depth_of(tree, end), i = num;

	for (uint32_t n = end; n != NO_NODE; n = tree->nodes[n].parent)
		chain[--i] = n;
	return num;
}

struct calltree *calltree_edit(const struct calltree *tree, const struct calltree_edit *edit)
{
	struct calltree *into = calltree_begin(tree->job, tree->frames);
	struct arena *scratch SCOPED(arena) = arena_create();
	uint32_t *chain = arena_array(scratch, tree->num_nodes, sizeof(*chain));
	struct marks marks = {
		.search = find_matches(scratch, tree, &edit->search),
		.above = find_matches(scratch, tree, &edit->above),
		.below = find_matches(scratch, tree, &edit->below),
		.hide = find_matches(scratch, tree, &edit->hide),
		.start = find_starts(scratch, tree, edit->hide_starts),
	};

	for (uint32_t n = 0; n < tree->num_nodes; n++)
		if (is_end(&tree->nodes[n]))
			edit_stack(into, tree, &marks, edit, chain, take_chain(tree, n, chain), n);
	calltree_finish(into);
	return into;
}

void calltree_join(struct calltree *tree)
{
	for (size_t n = 0; n < tree->num_nodes; n++) {
		struct calltree_node *node = &tree->nodes[n];
		const struct calltree_node *parent;

		if (node->parent == NO_NODE)
			continue;
		parent = &tree->nodes[node->parent];
		node->is_joined = parent->num_children == 1 && !is_end(parent);
	}
}

struct candidate {
	uint32_t end;
	uint64_t place; /* in the order: smallest first */
};

SORTED_BY(compare_candidates, struct candidate, place, end)

static uint64_t place_of(const struct calltree *tree, uint32_t end, enum calltree_extreme extreme)
{
	uint64_t ranks = (uint64_t)rankset_count(tree->nodes[end].ends);
	uint64_t depth = depth_of(tree, end);

	switch (extreme) {
	case CALLTREE_LEAST:
		return ranks;
	case CALLTREE_MOST:
		return UINT64_MAX - ranks;
	case CALLTREE_SHORTEST:
		return depth;
	case CALLTREE_LONGEST:
		break;
	}
	return UINT64_MAX - depth;
}

struct calltree *calltree_select(const struct calltree *tree, enum calltree_extreme extreme,
				 size_t num)
{
	struct calltree *into = calltree_begin(tree->job, tree->frames);
	struct arena *scratch SCOPED(arena) = arena_create();
	struct candidate *all = arena_array(scratch, tree->num_nodes, sizeof(*all));
	uint32_t *chain = arena_array(scratch, tree->num_nodes, sizeof(*chain));
	size_t num_all = 0;

	for (uint32_t n = 0; n < tree->num_nodes; n++)
		if (is_end(&tree->nodes[n]))
			all[num_all++] = (struct candidate){n, place_of(tree, n, extreme)};
	qsort(all, num_all, sizeof(*all), compare_candidates);
	for (size_t i = 0; i < num_all && (i < num || all[i].place == all[num - 1].place); i++)
		add_chain(into, tree, chain, take_chain(tree, all[i].end, chain), all[i].end);
	calltree_finish(into);
	return into;
}

bool calltree_deviates(const struct calltree *tree, uint32_t node)
{
	uint32_t parent = tree->nodes[node].parent;
	int num = parent == NO_NODE ? tree->num_ranks : rankset_count(tree->nodes[parent].ranks);

	return !tree->nodes[node].is_helper && 4 * rankset_count(tree->nodes[node].ranks) <= num;
}
