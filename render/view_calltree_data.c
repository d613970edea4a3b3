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
#include <string.h>

#include "analysis/stacks/calltree.h"
#include "model/arena.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "render/json.h"
#include "render/label.h"
#include "render/text.h"
#include "render/view.h"

#define NO_NODE UINT32_MAX

ARENA_DEFINE_IN(calltree_classes)

/* Fill the nodes from the root to a node, for which there is room for those of the tree. Returns
 * how many. */
static size_t find_chain(const struct calltree *tree, uint32_t node, uint32_t *chain)
{
	size_t num = 0, at;

	for (uint32_t n = node; n != NO_NODE; n = tree->nodes[n].parent)
		num++;
	at = num;
	for (uint32_t n = node; n != NO_NODE; n = tree->nodes[n].parent)
		chain[--at] = n;
	return num;
}

/* ---- Folded ---- */

/* A function's name without what parts frames and counts. */
static const char *folded_name(const struct view *view, const struct name *name)
{
	char *text = arena_strdup(
		view->arena,
		text_clean(view->arena, label_function(view->arena, name->function), true));

	for (char *at = text; *at; at++)
		*at = *at == ';' ? ':' : *at == ' ' ? '_' : *at;
	return text;
}

void view_calltree_folded(const struct view *view)
{
	const struct calltree *tree = view->answer->tree;
	uint32_t *chain = arena_array(view->arena, tree->num_nodes, sizeof(*chain));
	const char **names = arena_array(view->arena, tree->num_nodes, sizeof(*names));

	for (uint32_t n = 0; n < tree->num_nodes; n++) {
		size_t num = find_chain(tree, n, chain);

		names[n] = folded_name(view, calltree_name(tree, n));
		if (rankset_is_empty(tree->nodes[n].ends))
			continue;
		for (size_t i = 0; i < num; i++)
			fprintf(view->out, "%s%s", i > 0 ? ";" : "", names[chain[i]]);
		fprintf(view->out, " %" PRIu64 "\n", tree->nodes[n].seen_ends);
	}
}

/* ---- JSON ---- */

/* The members of a frame's object that tell where it is. */
static void write_place(struct json *json, const struct view *view, uint32_t node)
{
	const struct calltree *tree = view->answer->tree;
	const struct callpath_node *frame =
		callpaths_get(view->job->callpaths, tree->nodes[node].path);
	const struct name *name = calltree_name(tree, node);

	json_text(json, "function", name->function);
	if (name->file)
		json_text(json, "file", name->full_file ? name->full_file : name->file);
	if (name->file && tree->frames != CALLTREE_FUNCTION)
		json_int(json, "line", name->line);
	if (frame->module != MODULE_NONE)
		json_text(json, "module", modules_get(view->job->modules, frame->module)->path);
	if (name->caller)
		json_bool(json, "inlined", true);
	if (tree->frames == CALLTREE_ADDRESS)
		json_count(json, "offset", frame->offset);
}

static void begin_node(struct json *json, const struct view *view, uint32_t n)
{
	const struct calltree_node *node = &view->answer->tree->nodes[n];

	json_object(json, NULL);
	write_place(json, view, n);
	json_who(json, node->ranks);
	json_count(json, "samples", node->seen);
	if (node->time)
		json_count(json, "time", node->time);
	json_ranks(json, "ends", node->ends);
	if (node->is_helper)
		json_bool(json, "helper", true);
	if (node->workers)
		json_count(json, "workers", node->workers);
	json_array(json, "callees");
}

/* A node and all below it, as deep as it may be. done: how many callees are written, by node. */
static void write_nodes(struct json *json, const struct view *view, uint32_t top, size_t *done)
{
	const struct calltree_node *nodes = view->answer->tree->nodes;
	uint32_t at = top;

	begin_node(json, view, at);
	for (;;) {
		if (done[at] < nodes[at].num_children) {
			at = nodes[at].children[done[at]++];
			begin_node(json, view, at);
			continue;
		}
		json_end_array(json);
		json_end_object(json);
		if (at == top)
			break;
		at = nodes[at].parent;
	}
}

void view_calltree_json(const struct view *view)
{
	const struct calltree *tree = view->answer->tree;
	size_t *done = arena_array(view->arena, tree->num_nodes, sizeof(*done));
	struct json json = {.out = view->out};

	json_object(&json, NULL);
	json_array(&json, "stacks");
	for (size_t i = 0; i < tree->num_roots; i++)
		write_nodes(&json, view, tree->roots[i], done);
	json_end_array(&json);
	json_end_object(&json);
}

void view_classes_json(const struct view *view)
{
	const struct calltree *tree = view->answer->tree;
	const struct calltree_classes *classes =
		calltree_classes_in(view->arena, calltree_classes_create(tree));
	uint32_t *chain = arena_array(view->arena, tree->num_nodes, sizeof(*chain));
	struct json json = {.out = view->out};

	json_object(&json, NULL);
	json_array(&json, "classes");
	for (size_t i = 0; i < classes->num_classes; i++) {
		const struct calltree_class *class = &classes->classes[i];

		json_object(&json, NULL);
		json_who(&json, class->ranks);
		json_int(&json, "representative", rankset_first(class->ranks));
		json_array(&json, "stacks");
		for (size_t k = 0; k < class->num_ends; k++) {
			size_t num = find_chain(tree, class->ends[k], chain);

			json_array(&json, NULL);
			for (size_t f = 0; f < num; f++) {
				json_object(&json, NULL);
				write_place(&json, view, chain[f]);
				json_end_object(&json);
			}
			json_end_array(&json);
		}
		json_end_array(&json);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}
