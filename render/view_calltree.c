/* SPDX-License-Identifier: BSD-3-Clause
 * Merged stacks, and ranks with the same stacks. */
#include "analysis/stacks/calltree.h"
#include "analysis/verdict/verdict.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/draw/dot.h"
#include "render/draw/tree.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"
#include "render/words/parts.h"

enum { RANKS_WIDTH = 24, STEP = 4, MAX_WAITS = 4 };

#define NO_NODE UINT32_MAX

static bool is_culprit(const struct view *view, const struct rankset *ranks)
{
	int first = rankset_first(ranks);

	return view->verdict && first >= 0 && rankset_count(ranks) == 1 &&
	       rankset_contains(view->verdict->culprits, first);
}

/* "4:[0-3]"; with several samples per rank "4:[0-3] 37x". Branches with a number in temporal order
 * begin with it: "#1 4:[0-3]". */
static const char *ranks_text(const struct view *view, const struct calltree *tree, uint32_t n)
{
	char time[24] = "", seen[24] = "";

	if (tree->nodes[n].time)
		snprintf(time, sizeof(time), "#%" PRIu32 " ", tree->nodes[n].time);
	if (tree->has_repeats)
		snprintf(seen, sizeof(seen), " %" PRIu64 "x", tree->nodes[n].seen);
	return text_of(view, "%s%s%s", time,
		       label_ranks(view->arena, tree->nodes[n].ranks, RANKS_WIDTH), seen);
}

/* A frame's place, and the share of OpenMP workers in it. */
static const char *place_text(const struct view *view, const struct calltree *tree, uint32_t n)
{
	const struct calltree_node *node = &tree->nodes[n];
	const char *place = label_frame(view, tree, n);

	if (!node->workers || !calltree_is_region(tree, n))
		return place;
	return text_of(view, "%s  (%" PRIu64 " of %" PRIu64 " by OpenMP workers)", place,
		       node->workers, node->seen);
}

static bool has_same_label(const struct calltree *tree, uint32_t a, uint32_t b)
{
	return rankset_equal(tree->nodes[a].ranks, tree->nodes[b].ranks) &&
	       (!tree->has_repeats || tree->nodes[a].seen == tree->nodes[b].seen);
}

/* ---- Text ---- */

struct drawing {
	const struct view *view;
	const struct calltree *tree;
	struct tree *lines;
	/* By node. */
	uint32_t *drawn; /* its line */
	int *hang;       /* columns of the label; frames without a label stand below it */
	int *indent;     /* columns before its label */
	bool *deviates;
};

/* The only callee, if it belongs on the same line. */
static uint32_t joined_callee(const struct calltree *tree, uint32_t n)
{
	const struct calltree_node *node = &tree->nodes[n];

	if (node->num_children != 1 || !tree->nodes[node->children[0]].is_joined)
		return NO_NODE;
	return node->children[0];
}

static void add_line(struct drawing *d, uint32_t n, uint32_t parent, const char *text)
{
	d->drawn[n] = tree_add(d->lines, parent, text);
	if (d->deviates[n] || is_culprit(d->view, d->tree->nodes[n].ranks))
		tree_mark(d->lines, d->drawn[n]);
}

/* A frame and the frames joined to it: functions, and the last one's place, in lines that fit. */
static void add_joined(struct drawing *d, uint32_t n, uint32_t parent, const char *label)
{
	size_t room = (size_t)(d->view->width - d->indent[n]);
	const char *line = label;
	bool is_first = true;
	uint32_t next;

	for (uint32_t at = n; at != NO_NODE; at = next) {
		const char *part, *longer;

		next = joined_callee(d->tree, at);
		part = next == NO_NODE
			       ? place_text(d->view, d->tree, at)
			       : label_called(d->view, calltree_name(d->tree, at), LABEL_SHORT);
		longer = text_of(d->view, "%s%s%s%s", line, is_first ? "" : " ", part,
				 next == NO_NODE ? "" : " >");
		if (!is_first && text_columns(longer) > room) {
			add_line(d, n, parent, line);
			parent = d->drawn[n];
			longer = text_of(d->view, "%*s%s%s", d->hang[n], "", part,
					 next == NO_NODE ? "" : " >");
		}
		line = longer;
		is_first = false;
		d->drawn[at] = NO_NODE;
		d->hang[at] = d->hang[n];
		d->indent[at] = d->indent[n];
	}
	add_line(d, n, parent, line);
	for (uint32_t at = n; at != NO_NODE; at = joined_callee(d->tree, at))
		d->drawn[at] = d->drawn[n];
}

static void add_node(struct drawing *d, uint32_t n)
{
	const struct calltree *tree = d->tree;
	uint32_t parent = tree->nodes[n].parent;
	bool is_alone =
		parent != NO_NODE && !tree->nodes[n].time && has_same_label(tree, parent, n);
	const char *ranks = ranks_text(d->view, tree, n), *label;

	d->hang[n] = is_alone ? d->hang[parent] : (int)strlen(ranks) + 1;
	if (parent != NO_NODE)
		d->indent[n] =
			d->indent[parent] + (tree->nodes[parent].num_children > 1 ? STEP : 0);
	d->deviates[n] = calltree_deviates(tree, n) || (parent != NO_NODE && d->deviates[parent]);
	label = is_alone ? text_of(d->view, "%*s", d->hang[n], "") : text_of(d->view, "%s ", ranks);
	add_joined(d, n, parent == NO_NODE ? TREE_ROOT : d->drawn[parent], label);
	if (calltree_deviates(tree, n))
		tree_point(d->lines, d->drawn[n]);
}

static void add_branch(struct drawing *d, uint32_t n);

/* Branches as found, or in temporal order if known. */
static void add_branches(struct drawing *d, const uint32_t *siblings, size_t num, bool is_helper)
{
	uint32_t lowest = 0;
	bool has_time = false;

	for (size_t i = 0; i < num; i++)
		has_time |= d->tree->nodes[siblings[i]].time > 0;
	for (size_t i = 0; i < num; i++) {
		uint32_t next = siblings[i];

		if (!has_time) {
			next = NO_NODE;
			for (size_t j = 0; j < num; j++)
				if (siblings[j] >= lowest && siblings[j] < next)
					next = siblings[j];
			lowest = next + 1;
		}
		if (d->tree->nodes[next].is_helper == is_helper)
			add_branch(d, next);
	}
}

/* Stacks can be deep: chains without branches are handled in a loop, not by recursion. */
static void add_branch(struct drawing *d, uint32_t n)
{
	const struct calltree_node *node = &d->tree->nodes[n];

	for (;; node = &d->tree->nodes[n]) {
		if (!node->is_joined)
			add_node(d, n);
		if (node->num_children != 1)
			break;
		n = node->children[0];
	}
	add_branches(d, node->children, node->num_children, node->is_helper);
}

/* Draw the frames above those that `is_helper` names. Returns how many there are. */
static size_t draw(const struct view *view, const struct calltree *tree, bool is_helper)
{
	struct drawing d = {
		.view = view,
		.tree = tree,
		.lines = tree_create(view->arena),
		.drawn = arena_array(view->arena, tree->num_nodes + 1, sizeof(*d.drawn)),
		.hang = arena_array(view->arena, tree->num_nodes + 1, sizeof(*d.hang)),
		.indent = arena_array(view->arena, tree->num_nodes + 1, sizeof(*d.indent)),
		.deviates = arena_array(view->arena, tree->num_nodes + 1, sizeof(*d.deviates)),
	};
	size_t num = 0;

	for (uint32_t n = 0; n < tree->num_nodes; n++)
		num += tree->nodes[n].is_helper == is_helper;
	add_branches(&d, tree->roots, tree->num_roots, is_helper);
	if (num && is_helper)
		fputs("Threads of the MPI library:\n", view->out);
	tree_print(d.lines, view);
	return num;
}

/* What the marks of the lines above mean. */
static void print_legend(const struct view *view, const struct calltree *tree)
{
	struct text_list legend = {.arena = view->arena};
	bool has_times = false, has_arrows = false;

	for (uint32_t n = 0; n < tree->num_nodes; n++) {
		has_times |= tree->nodes[n].time > 0;
		has_arrows |= calltree_deviates(tree, n);
	}
	if (has_times)
		text_list_add(&legend, "; ",
			      "#1: the least progressed branch, \"order\" shows why");
	if (has_arrows)
		text_list_add(&legend, "; ", "<-: few ranks");
	if (tree->has_repeats)
		text_list_add(&legend, "; ", "2x: in 2 samples");
	if (legend.text)
		text_wrap(view, 0, "%s", legend.text);
}

static const struct rankset *all_ranks(const struct view *view, const struct calltree *tree)
{
	struct rankset *ranks = rankset_in(view->arena, rankset_create());

	for (size_t i = 0; i < tree->num_roots; i++)
		rankset_add_set(ranks, tree->nodes[tree->roots[i]].ranks);
	return ranks;
}

/* Print a line for each such wait of main threads of `ranks`, most ranks first. */
static void print_thread_waits(const struct view *view, const struct rankset *ranks)
{
	const struct samples *samples = view->job->samples;
	struct same waits = {.arena = view->arena};
	bool is_one = rankset_count(ranks) == 1;
	size_t left;

	for (size_t i = 0; samples && i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];
		const char *text;

		if (!sample->is_main || !rankset_contains(ranks, sample->rank) ||
		    sample != samples_find(samples, sample->rank, 0))
			continue;
		text = label_thread_wait(view, sample, is_one);
		if (text)
			same_add(&waits, text, sample->rank);
	}
	same_sort(&waits);
	left = same_print(&waits, view, ": the main thread ", MAX_WAITS);
	if (left)
		text_wrap(view, 2, "and %zu more main threads that wait", left);
}

void view_calltree(const struct view *view)
{
	const struct calltree *tree = view->answer->tree;
	size_t num = draw(view, tree, false);

	num += draw(view, tree, true);
	if (!num)
		text_wrap(view, 0, "There is no stack to show.");
	print_legend(view, tree);
	print_thread_waits(view, all_ranks(view, tree));
}

/* ---- Classes ---- */

/* Indexed by node of the tree, for one class after the other. */
struct marks {
	size_t *class; /* the last class that goes through it */
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
	tree_print_indented(drawing, view, STEP);
}

void view_classes(const struct view *view)
{
	size_t num_nodes = view->answer->tree->num_nodes;
	const struct calltree_classes *classes = calltree_classes_create(view->answer->tree);
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

/* ---- DOT ---- */

/* The places of a frame and of those joined to it, a line each. */
static const char *dot_label(const struct view *view, const struct calltree *tree, uint32_t n)
{
	const char *text = place_text(view, tree, n);

	for (n = joined_callee(tree, n); n != NO_NODE; n = joined_callee(tree, n))
		text = text_of(view, "%s\n%s", text, place_text(view, tree, n));
	return text;
}

void view_calltree_dot(const struct view *view)
{
	const struct calltree *tree = view->answer->tree;
	struct dot *dot = dot_create(view->arena, "call paths by rank", "frames");
	uint32_t *drawn = arena_array(view->arena, tree->num_nodes + 1, sizeof(*drawn));
	bool *deviates = arena_array(view->arena, tree->num_nodes + 1, sizeof(*deviates));

	for (uint32_t n = 0; n < tree->num_nodes; n++) {
		const struct calltree_node *node = &tree->nodes[n];

		deviates[n] = calltree_deviates(tree, n) ||
			      (node->parent != NO_NODE && deviates[node->parent]);
		if (node->is_joined) {
			drawn[n] = drawn[node->parent];
			continue;
		}
		/* Keep nodes with the most ranks; among equals, parents before children. */
		drawn[n] = dot_node(
			dot, dot_label(view, tree, n), (uint64_t)rankset_count(node->ranks),
			deviates[n] || is_culprit(view, node->ranks) ? DOT_STRONG : DOT_PLAIN);
		if (node->parent != NO_NODE)
			dot_edge(dot, drawn[node->parent], drawn[n], ranks_text(view, tree, n));
	}
	dot_write(dot, view->out);
}

/* The nodes from the root to a node, into room for all of the tree. Returns how many. */
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

/* A function's name without the separators of frames and counts. */
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

/* The members of a frame's object that give its place. */
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
	struct json *json = view->json;

	json_array(json, "stacks");
	for (size_t i = 0; i < tree->num_roots; i++)
		write_nodes(json, view, tree->roots[i], done);
	json_end_array(json);
	label_json_thread_waits(json, view, all_ranks(view, tree));
	label_json_system_calls(json, view, all_ranks(view, tree));
	label_json_limits(json, view, all_ranks(view, tree));
}

void view_classes_json(const struct view *view)
{
	const struct calltree *tree = view->answer->tree;
	const struct calltree_classes *classes = calltree_classes_create(tree);
	uint32_t *chain = arena_array(view->arena, tree->num_nodes, sizeof(*chain));
	struct json *json = view->json;

	JSON_OBJECTS(json, "classes", i, classes->num_classes) {
		const struct calltree_class *class = &classes->classes[i];

		json_who(json, class->ranks);
		json_int(json, "representative", rankset_first(class->ranks));
		json_array(json, "stacks");
		for (size_t k = 0; k < class->num_ends; k++) {
			size_t num = find_chain(tree, class->ends[k], chain);

			JSON_OBJECTS(json, NULL, f, num)
				write_place(json, view, chain[f]);
		}
		json_end_array(json);
	}
}
