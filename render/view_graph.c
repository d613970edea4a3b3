/* SPDX-License-Identifier: BSD-3-Clause
 * The progress dependency graph, most progressed groups at the top. */
#include "analysis/progress/eqgroup.h"
#include "analysis/progress/loop_nest.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "render/draw/ascii_graph.h"
#include "render/draw/dot.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "render/words/parts.h"

enum {
	RANKS_WIDTH = 24, /* columns of the ranks in a label */
	MAX_LAYER = 3,    /* groups drawn on one layer; smaller ones are folded into one box */
	KEEP_TOP = 4,     /* layers drawn at the top and bottom when there are more */
	KEEP_BOTTOM = 6,
};

/* ---- Labels ---- */

/* What distinguishes groups with the same activity: place, iteration. */
static const char *more_text(const struct view *view, uint32_t g, const char *const *doing)
{
	const struct eqgroups *groups = view->groups;
	const struct eqgroup *group = &groups->groups[g];
	bool needs_place = false, needs_iteration = false;
	const char *place = "", *iterations = "";

	for (uint32_t other = 0; other < groups->num_groups; other++) {
		if (other == g || strcmp(doing[other], doing[g]) != 0)
			continue;
		if (groups->groups[other].state == group->state)
			needs_iteration = true;
		else
			needs_place = true;
	}
	if (needs_place && SEG_STATE_SITE(group->state)) {
		uint32_t path = view->job->model->sites[SEG_STATE_SITE(group->state)].path;

		place = label_user_place(view, path, LABEL_SHORT);
	}
	if (needs_iteration)
		iterations = parts_iterations(view, group);
	return text_of(view, "%s%s%s%s", *place ? ", " : "", place,
		       *iterations ? ", iteration " : "", iterations);
}

/* "6:[0-5]", or if the verdict names only some of them "2:[3-4] of 6:[0-5]". */
static const char *who_text(const struct view *view, const struct rankset *ranks,
			    const struct rankset *culprits)
{
	const char *all = label_ranks(view->arena, ranks, RANKS_WIDTH);

	if (rankset_is_empty(culprits) || rankset_count(culprits) == rankset_count(ranks))
		return all;
	return text_of(view, "%s of %s", label_ranks(view->arena, culprits, RANKS_WIDTH), all);
}

/* A label for each group. */
static const char **make_labels(const struct view *view)
{
	size_t number = view->groups->num_groups;
	const char **doing = arena_array(view->arena, number, sizeof(*doing));
	const char **labels = arena_array(view->arena, number, sizeof(*labels));

	for (size_t g = 0; g < number; g++)
		doing[g] = label_doing(view, &view->groups->groups[g]);
	for (uint32_t g = 0; g < number; g++)
		labels[g] = text_of(
			view, "%s %s%s",
			who_text(view, view->groups->groups[g].ranks, parts_culprits(view, g)),
			doing[g], more_text(view, g, doing));
	return labels;
}

/* ---- Folding ---- */

/* The picture: boxes of one group, or of several folded groups. */
struct picture {
	uint32_t *box_of; /* [groups] */
	struct ascii_graph_node *boxes;
	size_t num_boxes;
	struct ascii_graph_edge *edges;
	size_t num_edges;
	size_t num_folded; /* groups without a box of their own */
};

/* The most steps that lead down from each group. The graph has no cycle. */
static uint32_t *find_layers(const struct view *view, uint32_t *num_layers_ret)
{
	const struct progress_graph *graph = view->graph;
	size_t number = graph->groups->num_groups, done = 0, end = 0;
	uint32_t *layers = arena_array(view->arena, number, sizeof(*layers));
	uint32_t *num_below = arena_array(view->arena, number, sizeof(*num_below));
	uint32_t *queue = arena_array(view->arena, number, sizeof(*queue));
	/* The edges into a group as a list: first_in[group], then next_in[edge]. */
	size_t *first_in = arena_array(view->arena, number, sizeof(*first_in));
	size_t *next_in = arena_array(view->arena, graph->num_edges, sizeof(*next_in));

	for (size_t g = 0; g < number; g++)
		first_in[g] = SIZE_MAX;
	for (size_t e = 0; e < graph->num_edges; e++) {
		num_below[graph->edges[e].from]++;
		next_in[e] = first_in[graph->edges[e].to];
		first_in[graph->edges[e].to] = e;
	}
	for (size_t g = 0; g < number; g++)
		if (!num_below[g])
			queue[end++] = (uint32_t)g;
	*num_layers_ret = 0;
	for (; done < end; done++) {
		uint32_t low = queue[done];

		if (layers[low] >= *num_layers_ret)
			*num_layers_ret = layers[low] + 1;
		for (size_t e = first_in[low]; e != SIZE_MAX; e = next_in[e]) {
			uint32_t high = graph->edges[e].from;

			if (layers[high] <= layers[low])
				layers[high] = layers[low] + 1;
			if (--num_below[high] == 0)
				queue[end++] = high;
		}
	}
	return layers;
}

/* Give the groups of one layer boxes. Culprits and the largest groups get their own; the rest
 * shares one. Groups come largest first. */
static void box_layer(const struct view *view, struct picture *picture, const uint32_t *layers,
		      uint32_t layer)
{
	uint32_t number = 0, room = MAX_LAYER, rest = UINT32_MAX;
	size_t num_groups = view->groups->num_groups;

	for (size_t g = 0; g < num_groups; g++)
		number += layers[g] == layer;
	/* A box for only one remaining group would show less in the same room. */
	if (number <= room + 1)
		room = number;
	for (int culprits = 1; culprits >= 0; culprits--) {
		for (uint32_t g = 0; g < num_groups; g++) {
			if (layers[g] != layer || parts_is_culprit(view, g) != culprits)
				continue;
			if (room > 0) {
				picture->box_of[g] = (uint32_t)picture->num_boxes++;
				room--;
				continue;
			}
			if (rest == UINT32_MAX)
				rest = (uint32_t)picture->num_boxes++;
			picture->box_of[g] = rest;
		}
	}
}

static void assign_boxes(const struct view *view, struct picture *picture)
{
	size_t num_groups = view->groups->num_groups;
	uint32_t num_layers, middle = UINT32_MAX;
	uint32_t *layers = find_layers(view, &num_layers);

	for (uint32_t layer = 0; layer < num_layers; layer++) {
		if (num_layers <= KEEP_TOP + KEEP_BOTTOM + 1 || layer < KEEP_BOTTOM ||
		    layer >= num_layers - KEEP_TOP) {
			box_layer(view, picture, layers, layer);
			continue;
		}
		if (middle == UINT32_MAX)
			middle = (uint32_t)picture->num_boxes++;
		for (size_t g = 0; g < num_groups; g++)
			if (layers[g] == layer)
				picture->box_of[g] = middle;
	}
}

static void label_boxes(const struct view *view, struct picture *picture, const char *const *labels)
{
	picture->boxes = arena_array(view->arena, picture->num_boxes, sizeof(*picture->boxes));
	for (size_t b = 0; b < picture->num_boxes; b++) {
		struct rankset *ranks = parts_set(view), *culprits = parts_set(view);
		size_t inside = 0;
		const char *label = NULL;

		for (uint32_t g = 0; g < view->groups->num_groups; g++) {
			if (picture->box_of[g] != b)
				continue;
			inside++;
			label = labels[g];
			rankset_add_set(ranks, view->groups->groups[g].ranks);
			rankset_add_set(culprits, parts_culprits(view, g));
		}
		picture->boxes[b].is_marked = !rankset_is_empty(culprits);
		if (inside > 1) {
			picture->boxes[b].label = text_of(view, "(%zu groups) %s", inside,
							  who_text(view, ranks, culprits));
			picture->num_folded += inside;
		} else {
			picture->boxes[b].label = label;
		}
	}
}

/* Edges between boxes. */
static void join_boxes(const struct view *view, struct picture *picture)
{
	const struct progress_graph *graph = view->graph;

	picture->edges = arena_array(view->arena, graph->num_edges, sizeof(*picture->edges));
	for (size_t e = 0; e < graph->num_edges; e++)
		picture->edges[e] = (struct ascii_graph_edge){picture->box_of[graph->edges[e].from],
							      picture->box_of[graph->edges[e].to]};
	picture->num_edges = ascii_graph_reduce(view->arena, picture->num_boxes, picture->edges,
						graph->num_edges);
}

/* ---- Views ---- */

static const struct table_column list_columns[] = {
	{.name = "number", .header = "", .align = TABLE_RIGHT},
	{.name = "group", .header = "group", .min_width = 20},
	{.name = "ahead", .header = "ahead of", .min_width = 8},
};

/* For graphs too wide to draw. */
static void print_list(const struct view *view, const struct picture *picture)
{
	struct table *table = TABLE_OF(view, list_columns);

	for (size_t b = picture->num_boxes; b-- > 0;) {
		struct rankset *ahead = parts_set(view);

		for (size_t e = 0; e < picture->num_edges; e++)
			if (picture->edges[e].from == b)
				rankset_add(ahead, (int)picture->edges[e].to + 1);
		table_row(table);
		table_cell(table, "%zu", b + 1);
		table_text(table, picture->boxes[b].label);
		table_text(table, label_rank_list(view->arena, ahead, 24));
		if (picture->boxes[b].is_marked)
			table_mark(table, "*");
	}
	table_print(table);
}

void view_graph(const struct view *view)
{
	struct picture picture = {0};
	const char **labels;

	if (!parts_have_models(view))
		return;
	picture.box_of =
		arena_array(view->arena, view->groups->num_groups, sizeof(*picture.box_of));
	labels = make_labels(view);
	assign_boxes(view, &picture);
	label_boxes(view, &picture, labels);
	join_boxes(view, &picture);
	if (ascii_graph_print(view, picture.boxes, picture.num_boxes, picture.edges,
			      picture.num_edges))
		print_list(view, &picture);
	for (size_t b = 0; b < picture.num_boxes; b++) {
		if (picture.boxes[b].is_marked) {
			parts_print_star(view);
			break;
		}
	}
	if (picture.num_folded)
		text_wrap(
			view, 2,
			"boxes \"(N groups)\" hold %zu of the %zu groups; an arrow from or to such "
			"a box is of a group in it; \"graph > FILE.svg\" draws more",
			picture.num_folded, view->groups->num_groups);
}

void view_graph_dot(const struct view *view)
{
	struct dot *dot;
	const char **labels;

	if (!view->groups || !view->graph)
		return;
	dot = dot_create(
		view->arena,
		text_of(view,
			"progress of %d ranks: an arrow leads to a group that is less progressed",
			parts_num_ranks(view)),
		"groups");
	labels = make_labels(view);
	for (uint32_t g = 0; g < view->groups->num_groups; g++) {
		bool is_culprit = parts_is_culprit(view, g);
		bool is_outside = view->groups->groups[g].activity == ACTIVITY_COMPUTING;
		uint64_t ranks = (uint64_t)rankset_count(view->groups->groups[g].ranks);

		/* Culprits first, then the largest. */
		dot_node(dot, labels[g], is_culprit ? UINT64_MAX : ranks,
			 (is_culprit ? DOT_STRONG : 0) | (is_outside ? DOT_ROUNDED : 0));
		if (view->is_html && parts_has_article(view, g))
			dot_link(dot, g, text_of(view, "#group-%" PRIu32, g + 1));
	}
	for (size_t e = 0; e < view->graph->num_edges; e++) {
		const struct progress_edge *edge = &view->graph->edges[e];
		dot_edge(dot, edge->from, edge->to,
			 edge->loop == LOOP_NONE ? NULL
						 : label_loop(view, edge->loop, LABEL_SHORT));
	}
	dot_write(dot, view->out);
}

void view_graph_json(const struct view *view)
{
	const struct progress_graph *graph = view->graph;
	struct json *json = view->json;

	JSON_OBJECTS(json, "groups", g, graph ? graph->groups->num_groups : 0) {
		parts_json_group(json, view, g, graph->groups->groups[g].ranks);
		json_bool(json, "least", graph->is_least[g]);
	}
	JSON_OBJECTS(json, "edges", e, graph ? graph->num_edges : 0) {
		json_count(json, "from", graph->edges[e].from + 1);
		json_count(json, "to", graph->edges[e].to + 1);
		json_number(json, "loop", graph->edges[e].loop, LOOP_NONE);
	}
}
