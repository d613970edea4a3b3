/* SPDX-License-Identifier: BSD-3-Clause
 * Merged stacks for other programs: folded, as flame graphs take them, and JSON.
 *
 * The JSON of a tree is an object with "stacks", a list of frames:
 *	{"function": "run()", "file": "/src/a.c", "line": 12, "module": "/bin/app",
 *	 "count": 4, "ranks": "0-3", "samples": 40, "ends": "2", "callees": [...]}
 * There is no "line" in trees by function, and an "offset" in the module in those by address.
 * "inlined": true: the function is inlined into the one that it is a callee of.
 * "ends": ranks whose stack ends there; "helper": true: a thread of the MPI library; "workers":
 * samples of OpenMP workers among the others; "time": the branch's number in time among its
 * siblings, 1 is the first. That of classes has "classes", a list of
 *	{"count": 3, "ranks": "0,2-3", "representative": 0, "stacks": [[{frame}, ...], ...]} */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/calltree.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/json.h"
#include "render/label.h"
#include "render/text.h"
#include "render/view.h"

#define NO_NODE UINT32_MAX

/* The nodes from the root to a node; the caller frees. */
static uint32_t *take_chain(const struct calltree *tree, uint32_t node, size_t *num_ret)
{
	size_t num = 0;
	uint32_t *chain;

	for (uint32_t n = node; n != NO_NODE; n = tree->nodes[n].parent)
		num++;
	chain = xreallocarray(NULL, num, sizeof(*chain));
	*num_ret = num;
	for (uint32_t n = node; n != NO_NODE; n = tree->nodes[n].parent)
		chain[--num] = n;
	return chain;
}

/* ---- Folded ---- */

/* A function's name without what parts frames and counts. */
static void write_folded_name(const struct view *view, const struct name *name)
{
	char *function = label_function(name->function);
	char *clean = text_clean(function, true);

	for (char *at = clean; *at; at++)
		fputc(*at == ';' ? ':' : *at == ' ' ? '_' : *at, view->out);
	free(clean);
	free(function);
}

void view_calltree_folded(const struct view *view)
{
	const struct calltree *tree = view->answer->tree;
	for (uint32_t n = 0; n < tree->num_nodes; n++) {
		const struct calltree_node *node = &tree->nodes[n];
		uint32_t *chain;
		size_t num;

		if (rankset_is_empty(node->ends))
			continue;
		chain = take_chain(tree, n, &num);
		for (size_t i = 0; i < num; i++) {
			if (i > 0)
				fputc(';', view->out);
			write_folded_name(view, calltree_name(tree, chain[i]));
		}
		fprintf(view->out, " %" PRIu64 "\n", node->seen_ends);
		free(chain);
	}
}

/* ---- JSON ---- */

static void write_ranks(FILE *out, const char *name, const struct rankset *ranks)
{
	char *text = rankset_encode(ranks, 0);

	fprintf(out, "\"%s\": \"%s\"", name, text);
	free(text);
}

/* The members of a frame's object that tell where it is. */
static void write_place(const struct view *view, const struct calltree *tree, uint32_t node)
{
	uint32_t path = tree->nodes[node].path;
	const struct callpath_node *frame = callpaths_get(view->job->callpaths, path);
	const struct name *name = calltree_name(tree, node);

	fputs("\"function\": ", view->out);
	json_quote(view->out, name->function);
	if (name->file) {
		fputs(", \"file\": ", view->out);
		json_quote(view->out, name->full_file ? name->full_file : name->file);
		if (tree->frames != CALLTREE_FUNCTION)
			fprintf(view->out, ", \"line\": %d", name->line);
	}
	if (frame->module != MODULE_NONE) {
		fputs(", \"module\": ", view->out);
		json_quote(view->out, modules_get(view->job->modules, frame->module)->path);
	}
	if (name->caller)
		fputs(", \"inlined\": true", view->out);
	if (tree->frames == CALLTREE_ADDRESS)
		fprintf(view->out, ", \"offset\": %" PRIu64, frame->offset);
}

static void begin_node(const struct view *view, const struct calltree *tree, uint32_t n)
{
	const struct calltree_node *node = &tree->nodes[n];
	FILE *out = view->out;

	fputc('{', out);
	write_place(view, tree, n);
	fprintf(out, ", \"count\": %d, ", rankset_count(node->ranks));
	write_ranks(out, "ranks", node->ranks);
	fprintf(out, ", \"samples\": %" PRIu64 ", ", node->seen);
	if (node->time)
		fprintf(out, "\"time\": %" PRIu32 ", ", node->time);
	write_ranks(out, "ends", node->ends);
	if (node->is_helper)
		fputs(", \"helper\": true", out);
	if (node->workers)
		fprintf(out, ", \"workers\": %" PRIu64, node->workers);
	fputs(", \"callees\": [", out);
}

/* A node and all below it, as deep as it may be. */
static void write_nodes(const struct view *view, const struct calltree *tree, uint32_t top)
{
	size_t *done = xcalloc(tree->num_nodes, sizeof(*done)); /* callees written */
	uint32_t at = top;

	begin_node(view, tree, at);
	for (;;) {
		const struct calltree_node *node = &tree->nodes[at];

		if (done[at] < node->num_children) {
			if (done[at] > 0)
				fputs(", ", view->out);
			at = node->children[done[at]++];
			begin_node(view, tree, at);
			continue;
		}
		fputs("]}", view->out);
		if (at == top)
			break;
		at = node->parent;
	}
	free(done);
}

void view_calltree_json(const struct view *view)
{
	const struct calltree *tree = view->answer->tree;
	fputs("{\"stacks\": [", view->out);
	for (size_t i = 0; i < tree->num_roots; i++) {
		if (i > 0)
			fputs(", ", view->out);
		write_nodes(view, tree, tree->roots[i]);
	}
	fputs("]}", view->out);
}

static void write_stack(const struct view *view, const struct calltree *tree, uint32_t end)
{
	size_t num;
	uint32_t *chain = take_chain(tree, end, &num);

	fputs("[", view->out);
	for (size_t i = 0; i < num; i++) {
		fputs(i > 0 ? ", {" : "{", view->out);
		write_place(view, tree, chain[i]);
		fputc('}', view->out);
	}
	fputs("]", view->out);
	free(chain);
}

void view_classes_json(const struct view *view)
{
	const struct calltree *tree = view->answer->tree;
	struct calltree_classes *classes = calltree_classes_create(tree);
	FILE *out = view->out;

	fputs("{\"classes\": [", out);
	for (size_t i = 0; i < classes->num_classes; i++) {
		const struct calltree_class *class = &classes->classes[i];

		fprintf(out, "%s{\"count\": %d, ", i > 0 ? ", " : "", rankset_count(class->ranks));
		write_ranks(out, "ranks", class->ranks);
		fprintf(out, ", \"representative\": %d, \"stacks\": [",
			rankset_first(class->ranks));
		for (size_t k = 0; k < class->num_ends; k++) {
			if (k > 0)
				fputs(", ", out);
			write_stack(view, tree, class->ends[k]);
		}
		fputs("]}", out);
	}
	fputs("]}", out);
}
