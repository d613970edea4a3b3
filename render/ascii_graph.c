/* SPDX-License-Identifier: BSD-3-Clause
 * The four steps of Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical
 * System Structures" (IEEE SMC 1981):
 *   layer    a number for each node, so that edges lead downwards; an edge over several layers
 *            gets a joint, an invisible node, on each layer that it passes
 *   order    the nodes of a layer from left to right, by the mean place of their neighbours
 *   place    columns: as near to the neighbours' middle as the order and the width allow
 *   route    between two layers each node's edges share one horizontal line (its track) and end
 *            in ports, columns of their own above the target */
#include <stdlib.h>
#include <string.h>

#include "model/arena.h"
#include "render/ascii_graph.h"
#include "render/ascii_graph_private.h"
#include "render/text.h"
#include "render/view.h"

enum {
	MARGIN = 2,       /* columns left of everything */
	GAP = 3,          /* columns between two nodes */
	LEAST_LABEL = 10, /* no label is cut below this */
	JOINT_WIDTH = 1,
	MAX_NODES = 200, /* joints included */
	ORDER_SWEEPS = 8,
	PLACE_SWEEPS = 6,
};

/* Behind the label of a marked node, and kept when that is cut. */
static const char MARK[] = "  *";

static void add_node(struct drawing *drawing, const char *label, bool is_marked, int layer)
{
	int width = JOINT_WIDTH;

	if (label)
		width = (int)(text_columns(label) + (is_marked ? strlen(MARK) : 0));
	drawing->nodes = arena_grow(drawing->view->arena, drawing->nodes, drawing->num_nodes,
				    &drawing->nodes_capacity, sizeof(*drawing->nodes));
	drawing->nodes[drawing->num_nodes++] = (struct drawing_node){
		.label = label ? label : NULL,
		.is_marked = is_marked,
		.width = width,
		.layer = layer,
	};
}

static void add_edge(struct drawing *drawing, uint32_t from, uint32_t to)
{
	drawing->edges = arena_grow(drawing->view->arena, drawing->edges, drawing->num_edges,
				    &drawing->edges_capacity, sizeof(*drawing->edges));
	drawing->edges[drawing->num_edges++] = (struct drawing_edge){.from = from, .to = to};
}

/* ---- Reduce ---- */

static int compare_edges(const void *a, const void *b)
{
	const struct ascii_graph_edge *one = a, *two = b;

	if (one->from != two->from)
		return one->from < two->from ? -1 : 1;
	return (one->to > two->to) - (one->to < two->to);
}

bool *ascii_graph_reach(struct arena *arena, size_t n, const struct ascii_graph_edge *edges,
			size_t num_edges)
{
	bool *reaches = arena_array(arena, n * n, sizeof(*reaches));

	for (size_t e = 0; e < num_edges; e++)
		if (edges[e].from != edges[e].to)
			reaches[edges[e].from * n + edges[e].to] = true;
	for (size_t by = 0; by < n; by++)
		for (size_t from = 0; from < n; from++)
			for (size_t to = 0; reaches[from * n + by] && to < n; to++)
				reaches[from * n + to] |= reaches[by * n + to];
	return reaches;
}

size_t ascii_graph_reduce(struct arena *arena, size_t num_nodes, struct ascii_graph_edge *edges,
			  size_t num_edges)
{
	bool *reaches = ascii_graph_reach(arena, num_nodes, edges, num_edges);
	size_t kept = 0;

	if (num_edges)
		qsort(edges, num_edges, sizeof(*edges), compare_edges);
	for (size_t e = 0; e < num_edges; e++) {
		size_t from = edges[e].from, to = edges[e].to;
		bool is_needed = from != to;

		if (kept && !compare_edges(&edges[kept - 1], &edges[e]))
			continue;
		for (size_t by = 0; by < num_nodes && is_needed; by++)
			is_needed =
				!(reaches[from * num_nodes + by] && reaches[by * num_nodes + to]);
		if (is_needed)
			edges[kept++] = edges[e];
	}
	return kept;
}

/* ---- Layer ---- */

/* The longest way down from each node. Returns -1 for a cycle. */
static int assign_layers(struct drawing *drawing, const struct ascii_graph_edge *edges,
			 size_t num_edges)
{
	struct drawing_node *nodes = drawing->nodes;
	size_t round;
	bool has_changed = true;

	for (round = 0; has_changed; round++) {
		if (round > drawing->num_nodes)
			return -1;
		has_changed = false;
		for (size_t e = 0; e < num_edges; e++) {
			int above = nodes[edges[e].to].layer + 1;

			if (nodes[edges[e].from].layer < above) {
				nodes[edges[e].from].layer = above;
				has_changed = true;
			}
		}
	}
	for (size_t n = 0; n < drawing->num_nodes; n++) {
		if (nodes[n].layer >= drawing->num_layers)
			drawing->num_layers = nodes[n].layer + 1;
	}
	return 0;
}

/* Edges between neighbouring layers, with joints where an edge passes a layer. */
static int split_edges(struct drawing *drawing, const struct ascii_graph_edge *edges,
		       size_t num_edges)
{
	for (size_t e = 0; e < num_edges; e++) {
		uint32_t from = edges[e].from;
		int layer;

		for (layer = drawing->nodes[from].layer - 1;
		     layer > drawing->nodes[edges[e].to].layer; layer--) {
			if (drawing->num_nodes >= MAX_NODES)
				return -1;
			add_node(drawing, NULL, false, layer);
			add_edge(drawing, from, (uint32_t)drawing->num_nodes - 1);
			from = (uint32_t)drawing->num_nodes - 1;
		}
		add_edge(drawing, from, edges[e].to);
	}
	return 0;
}

/* Fill sorted[] and start[] layer by layer, nodes in the order of their numbers. */
static void sort_by_layer(struct drawing *drawing)
{
	size_t filled = 0;

	drawing->sorted =
		arena_array(drawing->view->arena, drawing->num_nodes, sizeof(*drawing->sorted));
	drawing->start = arena_array(drawing->view->arena, (size_t)drawing->num_layers + 1,
				     sizeof(*drawing->start));
	for (int layer = 0; layer < drawing->num_layers; layer++) {
		drawing->start[layer] = filled;
		for (size_t n = 0; n < drawing->num_nodes; n++) {
			if (drawing->nodes[n].layer != layer)
				continue;
			drawing->nodes[n].slot = (int)(filled - drawing->start[layer]);
			drawing->sorted[filled++] = (uint32_t)n;
		}
	}
	drawing->start[drawing->num_layers] = filled;
}

/* ---- Order ---- */

/* Set wish of the layer's nodes to the mean of value() over their neighbours above (from_above)
 * or below; to their own value where there are none. */
static void wish_mean(struct drawing *drawing, int layer, bool from_above,
		      double (*value)(const struct drawing_node *node))
{
	for (size_t i = drawing->start[layer]; i < drawing->start[layer + 1]; i++) {
		uint32_t self = drawing->sorted[i];
		double sum = 0;
		int number = 0;

		for (size_t e = 0; e < drawing->num_edges; e++) {
			const struct drawing_edge *edge = &drawing->edges[e];

			if ((from_above ? edge->to : edge->from) != self)
				continue;
			sum += value(&drawing->nodes[from_above ? edge->from : edge->to]);
			number++;
		}
		drawing->nodes[self].wish = number ? sum / number : value(&drawing->nodes[self]);
	}
}

static double slot_value(const struct drawing_node *node)
{
	return node->slot;
}

static double center_value(const struct drawing_node *node)
{
	return drawing_center(node);
}

/* Stable, so that equal wishes keep the order of before and drawings repeat. */
static void sort_layer(struct drawing *drawing, int layer)
{
	uint32_t *first = drawing->sorted + drawing->start[layer];
	size_t number = drawing->start[layer + 1] - drawing->start[layer];

	for (size_t i = 1; i < number; i++) {
		uint32_t node = first[i];
		size_t j = i;

		for (; j > 0 && drawing->nodes[first[j - 1]].wish > drawing->nodes[node].wish; j--)
			first[j] = first[j - 1];
		first[j] = node;
	}
	for (size_t i = 0; i < number; i++)
		drawing->nodes[first[i]].slot = (int)i;
}

static void order_layers(struct drawing *drawing)
{
	for (int sweep = 0; sweep < ORDER_SWEEPS; sweep++) {
		bool from_above = sweep % 2;

		for (int i = 1; i < drawing->num_layers; i++) {
			int layer = from_above ? drawing->num_layers - 1 - i : i;

			wish_mean(drawing, layer, from_above, slot_value);
			sort_layer(drawing, layer);
		}
	}
}

/* ---- Place ---- */

/* Cut the longest labels of a layer until its nodes fit side by side. Returns -1 if they do not. */
static int fit_layer(struct drawing *drawing, int layer)
{
	size_t from = drawing->start[layer], to = drawing->start[layer + 1];
	int room = drawing->view->width - MARGIN - GAP * ((int)(to - from) - 1), total = 0;

	for (size_t i = from; i < to; i++)
		total += drawing->nodes[drawing->sorted[i]].width;
	while (total > room) {
		struct drawing_node *widest = NULL;

		for (size_t i = from; i < to; i++) {
			struct drawing_node *node = &drawing->nodes[drawing->sorted[i]];

			if (!widest || node->width > widest->width)
				widest = node;
		}
		if (widest->width <= LEAST_LABEL)
			return -1;
		widest->width--;
		total--;
	}
	for (size_t i = from; i < to; i++) {
		struct drawing_node *node = &drawing->nodes[drawing->sorted[i]];
		const char *fit;

		if (!node->label)
			continue;
		fit = text_fit(drawing->view->arena, node->label,
			       (size_t)node->width - (node->is_marked ? strlen(MARK) : 0),
			       drawing->view->use_unicode);
		node->label = text_of(drawing->view, "%s%s", fit, node->is_marked ? MARK : "");
	}
	return 0;
}

/* Put the nodes of a layer where they wish to be, in the middle between what pushing them apart to
 * the right and to the left would give. */
static void place_layer(struct drawing *drawing, int layer)
{
	size_t from = drawing->start[layer], number = drawing->start[layer + 1] - from;
	int *pushed = arena_array(drawing->view->arena, number, sizeof(*pushed));
	int least = MARGIN, most = drawing->view->width;

	for (size_t i = 0; i < number; i++) {
		const struct drawing_node *node = &drawing->nodes[drawing->sorted[from + i]];
		int wish = (int)(node->wish + 0.5) - node->width / 2;

		pushed[i] = wish > least ? wish : least;
		least = pushed[i] + node->width + GAP;
	}
	/* Not beyond the width: what stands there is pushed back. */
	for (size_t i = number; i-- > 0;) {
		const struct drawing_node *node = &drawing->nodes[drawing->sorted[from + i]];

		if (pushed[i] + node->width > most)
			pushed[i] = most - node->width;
		most = pushed[i] - GAP;
	}
	most = drawing->view->width;
	for (size_t i = number; i-- > 0;) {
		struct drawing_node *node = &drawing->nodes[drawing->sorted[from + i]];
		int wish = (int)(node->wish + 0.5) - node->width / 2;

		node->left = wish + node->width > most ? most - node->width : wish;
		most = node->left - GAP;
	}
	least = MARGIN;
	for (size_t i = 0; i < number; i++) {
		struct drawing_node *node = &drawing->nodes[drawing->sorted[from + i]];

		if (node->left < least)
			node->left = least;
		least = node->left + node->width + GAP;
		node->left = (node->left + pushed[i]) / 2;
	}
}

/* Move everything to the left until it begins at the margin. */
static void move_to_margin(struct drawing *drawing)
{
	int left = drawing->view->width;

	for (size_t n = 0; n < drawing->num_nodes; n++) {
		if (drawing->nodes[n].left < left)
			left = drawing->nodes[n].left;
	}
	for (size_t n = 0; n < drawing->num_nodes; n++)
		drawing->nodes[n].left -= left - MARGIN;
}

/* To start from: the nodes of each layer close together, in the middle below the widest layer. */
static void place_in_middle(struct drawing *drawing)
{
	int widest = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (int layer = 0; layer < drawing->num_layers; layer++) {
			size_t from = drawing->start[layer], to = drawing->start[layer + 1];
			int width = 0, left;

			for (size_t i = from; i < to; i++)
				width += drawing->nodes[drawing->sorted[i]].width +
					 (i > from ? GAP : 0);
			if (width > widest)
				widest = width;
			left = MARGIN + (widest - width) / 2;
			for (size_t i = from; i < to; i++) {
				struct drawing_node *node = &drawing->nodes[drawing->sorted[i]];

				node->left = left;
				left += node->width + GAP;
			}
		}
	}
}

static int place_nodes(struct drawing *drawing)
{
	for (int layer = 0; layer < drawing->num_layers; layer++) {
		if (fit_layer(drawing, layer))
			return -1;
	}
	place_in_middle(drawing);
	for (int sweep = 0; sweep < PLACE_SWEEPS; sweep++) {
		bool from_above = sweep % 2;

		for (int i = 1; i < drawing->num_layers; i++) {
			int layer = from_above ? drawing->num_layers - 1 - i : i;

			wish_mean(drawing, layer, from_above, center_value);
			place_layer(drawing, layer);
		}
	}
	move_to_margin(drawing);
	return 0;
}

/* ---- Route ---- */

static bool is_source_column(const struct drawing *drawing, int layer, int column,
			     uint32_t apart_from)
{
	for (size_t i = drawing->start[layer]; i < drawing->start[layer + 1]; i++) {
		uint32_t node = drawing->sorted[i];

		if (node != apart_from && drawing_center(&drawing->nodes[node]) == column)
			return true;
	}
	return false;
}

static bool is_port_taken(const struct drawing *drawing, const struct drawing_edge *self,
			  int column)
{
	for (size_t e = 0; e < drawing->num_edges; e++) {
		const struct drawing_edge *edge = &drawing->edges[e];

		if (edge != self && edge->to == self->to && edge->port == column)
			return true;
	}
	return false;
}

/* The column nearest to `wish` above the target that is no port yet and below no other node's
 * centre: so that no two vertical lines ever run into each other. -1 if there is none. */
static int choose_port(const struct drawing *drawing, const struct drawing_edge *edge, int wish)
{
	const struct drawing_node *to = &drawing->nodes[edge->to];

	for (int off = 0; off <= to->width; off++) {
		for (int sign = -1; sign <= 1; sign += 2) {
			int column = wish + sign * off;

			if (column >= to->left && column < to->left + to->width &&
			    !is_source_column(drawing, to->layer + 1, column, edge->from) &&
			    !is_port_taken(drawing, edge, column))
				return column;
		}
	}
	return -1;
}

/* A joint is one column wide: move it aside rather than let two lines run into each other. */
static int move_joint(struct drawing *drawing, struct drawing_edge *edge)
{
	struct drawing_node *joint = &drawing->nodes[edge->to];
	const uint32_t *layer = drawing->sorted + drawing->start[joint->layer];
	size_t number = drawing->start[joint->layer + 1] - drawing->start[joint->layer];
	int least = MARGIN, most = drawing->view->width - 1;

	if (joint->slot > 0) {
		const struct drawing_node *node = &drawing->nodes[layer[joint->slot - 1]];

		least = node->left + node->width + 1;
	}
	if ((size_t)joint->slot + 1 < number)
		most = drawing->nodes[layer[joint->slot + 1]].left - 2;
	for (int column = least; column <= most; column++) {
		if (!is_source_column(drawing, joint->layer + 1, column, edge->from)) {
			joint->left = column;
			return column;
		}
	}
	return -1;
}

static int compare_sources(const void *a, const void *b, void *arg)
{
	const struct drawing *drawing = arg;
	const struct drawing_edge *edge_a = *(struct drawing_edge *const *)a,
				  *edge_b = *(struct drawing_edge *const *)b;

	return drawing_center(&drawing->nodes[edge_a->from]) -
	       drawing_center(&drawing->nodes[edge_b->from]);
}

/* Ports of the edges into one node, in the order of their sources, two columns apart. */
static int assign_ports(struct drawing *drawing, uint32_t to)
{
	struct drawing_edge **in = arena_array(drawing->view->arena, drawing->num_edges,
					       sizeof(struct drawing_edge *));
	const struct drawing_node *node = &drawing->nodes[to];
	int number = 0, result = 0;

	for (size_t e = 0; e < drawing->num_edges; e++) {
		if (drawing->edges[e].to == to)
			in[number++] = &drawing->edges[e];
	}
	qsort_r(in, (size_t)number, sizeof(struct drawing_edge *), compare_sources, drawing);
	for (int i = 0; i < number; i++) {
		int source = drawing_center(&drawing->nodes[in[i]->from]);
		int wish = drawing_center(node) + 2 * i - (number - 1);

		/* Straight down where that is possible. */
		if (number == 1 && source >= node->left && source < node->left + node->width)
			wish = source;
		in[i]->port = choose_port(drawing, in[i], wish);
		if (in[i]->port < 0 && !node->label)
			in[i]->port = move_joint(drawing, in[i]);
		if (in[i]->port < 0) {
			result = -1;
			break;
		}
	}
	return result;
}

/* From the top, so that a joint is in its final place before edges leave it. */
static int route(struct drawing *drawing)
{
	for (size_t e = 0; e < drawing->num_edges; e++)
		drawing->edges[e].port = -1;
	for (int layer = drawing->num_layers - 2; layer >= 0; layer--) {
		for (size_t i = drawing->start[layer]; i < drawing->start[layer + 1]; i++) {
			if (assign_ports(drawing, drawing->sorted[i]))
				return -1;
		}
	}
	return 0;
}

/* ---- All of it ---- */

static int lay_out(struct drawing *drawing, const struct ascii_graph_edge *edges, size_t num_edges)
{
	if (assign_layers(drawing, edges, num_edges) || split_edges(drawing, edges, num_edges))
		return -1;
	sort_by_layer(drawing);
	order_layers(drawing);
	if (place_nodes(drawing))
		return -1;
	return route(drawing);
}

int ascii_graph_print(const struct view *view, const struct ascii_graph_node *nodes,
		      size_t num_nodes, const struct ascii_graph_edge *edges, size_t num_edges)
{
	struct drawing drawing = {.view = view};
	int result;

	if (num_nodes == 0)
		return 0;
	if (num_nodes > MAX_NODES)
		return -1;
	for (size_t n = 0; n < num_nodes; n++)
		add_node(&drawing, nodes[n].label, nodes[n].is_marked, 0);
	result = lay_out(&drawing, edges, num_edges);
	for (int layer = drawing.num_layers - 1; !result && layer >= 0; layer--) {
		drawing_print_layer(&drawing, layer);
		if (layer > 0)
			drawing_print_edges(&drawing, layer);
	}
	return result;
}
