/* SPDX-License-Identifier: BSD-3-Clause
 * The four steps of Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical
 * System Structures" (IEEE SMC 1981):
 *   layer    a number for each node, so that edges lead downwards; an edge over several layers
 *            gets a joint, an invisible node, on each layer that it passes
 *   order    the nodes of a layer from left to right, by the mean place of their neighbours
 *   place    columns: as near to the neighbours' middle as the order and the width allow
 *   route    between two layers each node's edges share one horizontal line (its track) and end
 *            in ports, columns of their own above the target */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/xalloc.h"
#include "render/ascii_graph.h"
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

struct node {
	char *label; /* NULL: a joint */
	bool is_marked;
	int width;
	int left;    /* column where the label begins */
	int layer;   /* 0: the bottom */
	int slot;    /* place in the layer, from the left */
	double wish; /* while ordering and placing: where the neighbours would have it */
};

struct edge {
	uint32_t from, to; /* to is on the layer below from */
	int port;          /* column above `to` */
};

struct drawing {
	const struct view *view;
	struct node *nodes;
	size_t num_nodes, nodes_capacity;
	struct edge *edges;
	size_t num_edges, edges_capacity;
	int num_layers;
	uint32_t *sorted; /* nodes by layer, then slot */
	size_t *start;    /* [num_layers + 1] into sorted */
};

static int center(const struct node *node)
{
	return node->left + node->width / 2;
}

static void add_node(struct drawing *drawing, const char *label, bool is_marked, int layer)
{
	int width = JOINT_WIDTH;

	if (label)
		width = (int)(text_columns(label) + (is_marked ? strlen(MARK) : 0));
	drawing->nodes = xgrow(drawing->nodes, drawing->num_nodes, &drawing->nodes_capacity,
			       sizeof(*drawing->nodes));
	drawing->nodes[drawing->num_nodes++] = (struct node){
		.label = label ? xstrdup(label) : NULL,
		.is_marked = is_marked,
		.width = width,
		.layer = layer,
	};
}

static void add_edge(struct drawing *drawing, uint32_t from, uint32_t to)
{
	drawing->edges = xgrow(drawing->edges, drawing->num_edges, &drawing->edges_capacity,
			       sizeof(*drawing->edges));
	drawing->edges[drawing->num_edges++] = (struct edge){.from = from, .to = to};
}

/* ---- Layer -------------------------------------------------------------------------------- */

/* The longest way down from each node. Returns -1 for a cycle. */
static int assign_layers(struct drawing *drawing, const struct ascii_graph_edge *edges,
			 size_t num_edges)
{
	struct node *nodes = drawing->nodes;
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

	drawing->sorted = xcalloc(drawing->num_nodes, sizeof(*drawing->sorted));
	drawing->start = xcalloc((size_t)drawing->num_layers + 1, sizeof(*drawing->start));
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

/* ---- Order -------------------------------------------------------------------------------- */

/* Set wish of the layer's nodes to the mean of value() over their neighbours above (from_above)
 * or below; to their own value where there are none. */
static void wish_mean(struct drawing *drawing, int layer, bool from_above,
		      double (*value)(const struct node *node))
{
	for (size_t i = drawing->start[layer]; i < drawing->start[layer + 1]; i++) {
		uint32_t self = drawing->sorted[i];
		double sum = 0;
		int number = 0;

		for (size_t e = 0; e < drawing->num_edges; e++) {
			const struct edge *edge = &drawing->edges[e];

			if ((from_above ? edge->to : edge->from) != self)
				continue;
			sum += value(&drawing->nodes[from_above ? edge->from : edge->to]);
			number++;
		}
		drawing->nodes[self].wish = number ? sum / number : value(&drawing->nodes[self]);
	}
}

static double slot_value(const struct node *node)
{
	return node->slot;
}

static double center_value(const struct node *node)
{
	return center(node);
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

/* ---- Place -------------------------------------------------------------------------------- */

/* Cut the longest labels of a layer until its nodes fit side by side. Returns -1 if they do not. */
static int fit_layer(struct drawing *drawing, int layer)
{
	size_t from = drawing->start[layer], to = drawing->start[layer + 1];
	int room = drawing->view->width - MARGIN - GAP * ((int)(to - from) - 1), total = 0;

	for (size_t i = from; i < to; i++)
		total += drawing->nodes[drawing->sorted[i]].width;
	while (total > room) {
		struct node *widest = NULL;

		for (size_t i = from; i < to; i++) {
			struct node *node = &drawing->nodes[drawing->sorted[i]];

			if (!widest || node->width > widest->width)
				widest = node;
		}
		if (widest->width <= LEAST_LABEL)
			return -1;
		widest->width--;
		total--;
	}
	for (size_t i = from; i < to; i++) {
		struct node *node = &drawing->nodes[drawing->sorted[i]];
		char *fit, *label;

		if (!node->label)
			continue;
		fit = text_fit(node->label,
			       (size_t)node->width - (node->is_marked ? strlen(MARK) : 0),
			       drawing->view->use_unicode);
		label = xasprintf("%s%s", fit, node->is_marked ? MARK : "");
		free(fit);
		free(node->label);
		node->label = label;
	}
	return 0;
}

/* Put the nodes of a layer where they wish to be, in the middle between what pushing them apart to
 * the right and to the left would give. */
static void place_layer(struct drawing *drawing, int layer)
{
	size_t from = drawing->start[layer], number = drawing->start[layer + 1] - from;
	int *pushed = xcalloc(number, sizeof(*pushed));
	int least = MARGIN, most = drawing->view->width;

	for (size_t i = 0; i < number; i++) {
		const struct node *node = &drawing->nodes[drawing->sorted[from + i]];
		int wish = (int)(node->wish + 0.5) - node->width / 2;

		pushed[i] = wish > least ? wish : least;
		least = pushed[i] + node->width + GAP;
	}
	/* Not beyond the width: what stands there is pushed back. */
	for (size_t i = number; i-- > 0;) {
		const struct node *node = &drawing->nodes[drawing->sorted[from + i]];

		if (pushed[i] + node->width > most)
			pushed[i] = most - node->width;
		most = pushed[i] - GAP;
	}
	most = drawing->view->width;
	for (size_t i = number; i-- > 0;) {
		struct node *node = &drawing->nodes[drawing->sorted[from + i]];
		int wish = (int)(node->wish + 0.5) - node->width / 2;

		node->left = wish + node->width > most ? most - node->width : wish;
		most = node->left - GAP;
	}
	least = MARGIN;
	for (size_t i = 0; i < number; i++) {
		struct node *node = &drawing->nodes[drawing->sorted[from + i]];

		if (node->left < least)
			node->left = least;
		least = node->left + node->width + GAP;
		node->left = (node->left + pushed[i]) / 2;
	}
	free(pushed);
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

static int place_nodes(struct drawing *drawing)
{
	int widest = 0;

	for (int layer = 0; layer < drawing->num_layers; layer++) {
		if (fit_layer(drawing, layer))
			return -1;
	}
	for (int layer = 0; layer < drawing->num_layers; layer++) {
		int left = 0;

		for (size_t i = drawing->start[layer]; i < drawing->start[layer + 1]; i++) {
			struct node *node = &drawing->nodes[drawing->sorted[i]];

			node->left = left;
			left += node->width + GAP;
		}
		if (left - GAP > widest)
			widest = left - GAP;
	}
	/* Start from layers in the middle of the widest, then follow the neighbours. */
	for (int layer = 0; layer < drawing->num_layers; layer++) {
		size_t last = drawing->start[layer + 1] - 1;
		const struct node *node = &drawing->nodes[drawing->sorted[last]];
		int shift = MARGIN + (widest - node->left - node->width) / 2;

		for (size_t i = drawing->start[layer]; i <= last; i++) {
			struct node *moved = &drawing->nodes[drawing->sorted[i]];

			moved->wish = center(moved) + shift;
		}
		place_layer(drawing, layer);
	}
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

/* ---- Route -------------------------------------------------------------------------------- */

static bool is_source_column(const struct drawing *drawing, int layer, int column,
			     uint32_t apart_from)
{
	for (size_t i = drawing->start[layer]; i < drawing->start[layer + 1]; i++) {
		uint32_t node = drawing->sorted[i];

		if (node != apart_from && center(&drawing->nodes[node]) == column)
			return true;
	}
	return false;
}

static bool is_port_taken(const struct drawing *drawing, const struct edge *self, int column)
{
	for (size_t e = 0; e < drawing->num_edges; e++) {
		const struct edge *edge = &drawing->edges[e];

		if (edge != self && edge->to == self->to && edge->port == column)
			return true;
	}
	return false;
}

/* The column nearest to `wish` above the target that is no port yet and below no other node's
 * centre: so that no two vertical lines ever run into each other. -1 if there is none. */
static int choose_port(const struct drawing *drawing, const struct edge *edge, int wish)
{
	const struct node *to = &drawing->nodes[edge->to];

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
static int move_joint(struct drawing *drawing, struct edge *edge)
{
	struct node *joint = &drawing->nodes[edge->to];
	const uint32_t *layer = drawing->sorted + drawing->start[joint->layer];
	size_t number = drawing->start[joint->layer + 1] - drawing->start[joint->layer];
	int least = MARGIN, most = drawing->view->width - 1;

	if (joint->slot > 0) {
		const struct node *node = &drawing->nodes[layer[joint->slot - 1]];

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
	const struct edge *edge_a = *(struct edge *const *)a, *edge_b = *(struct edge *const *)b;

	return center(&drawing->nodes[edge_a->from]) - center(&drawing->nodes[edge_b->from]);
}

/* Ports of the edges into one node, in the order of their sources, two columns apart. */
static int assign_ports(struct drawing *drawing, uint32_t to)
{
	struct edge **in = xcalloc(drawing->num_edges, sizeof(struct edge *));
	const struct node *node = &drawing->nodes[to];
	int number = 0, result = 0;

	for (size_t e = 0; e < drawing->num_edges; e++) {
		if (drawing->edges[e].to == to)
			in[number++] = &drawing->edges[e];
	}
	qsort_r(in, (size_t)number, sizeof(struct edge *), compare_sources, drawing);
	for (int i = 0; i < number; i++) {
		int source = center(&drawing->nodes[in[i]->from]);
		int wish = center(node) + 2 * i - (number - 1);

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
	free(in);
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

/* ---- Draw --------------------------------------------------------------------------------- */

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8, ARROW = 16 };

struct cell {
	unsigned lines;
	uint32_t owner; /* the node whose edges these are */
};

/* The horizontal line of a node's edges: from the leftmost to the rightmost of its own column and
 * their ports. */
struct track {
	uint32_t node;
	int left, right;
	int row; /* -1: all edges go straight down */
};

static struct track make_track(const struct drawing *drawing, uint32_t node)
{
	int column = center(&drawing->nodes[node]);
	struct track track = {.node = node, .left = column, .right = column};

	for (size_t e = 0; e < drawing->num_edges; e++) {
		const struct edge *edge = &drawing->edges[e];

		if (edge->from != node)
			continue;
		if (edge->port < track.left)
			track.left = edge->port;
		if (edge->port > track.right)
			track.right = edge->port;
	}
	track.row = track.left == track.right ? -1 : 0;
	return track;
}

/* Give each track the first row where it touches no other. Returns the number of rows. */
static int assign_rows(struct track *tracks, size_t num_tracks)
{
	int num_rows = 0;

	for (size_t t = 0; t < num_tracks; t++) {
		bool is_free = tracks[t].row < 0;

		for (int row = 0; !is_free; row++) {
			is_free = true;
			for (size_t other = 0; other < t; other++) {
				if (tracks[other].row == row &&
				    tracks[other].left <= tracks[t].right + 1 &&
				    tracks[t].left <= tracks[other].right + 1)
					is_free = false;
			}
			tracks[t].row = row;
		}
		if (tracks[t].row >= num_rows)
			num_rows = tracks[t].row + 1;
	}
	return num_rows;
}

static void add_lines(struct cell *cell, uint32_t owner, unsigned lines)
{
	/* Vertical lines are drawn last: at a crossing they go through. */
	if (cell->lines && cell->owner != owner)
		cell->lines = 0;
	cell->owner = owner;
	cell->lines |= lines;
}

static void draw_track(struct cell *grid, int width, const struct track *track)
{
	struct cell *row = grid + (track->row + 1) * width;

	for (int column = track->left; column <= track->right; column++) {
		unsigned lines =
			(column > track->left ? LEFT : 0u) | (column < track->right ? RIGHT : 0u);

		add_lines(&row[column], track->node, lines);
	}
}

static void draw_vertical(struct cell *grid, int width, uint32_t owner, int column, int from,
			  int to)
{
	for (int row = from; row <= to; row++) {
		unsigned lines = (row > from ? UP : 0u) | (row < to ? DOWN : 0u);

		add_lines(&grid[row * width + column], owner, lines);
	}
}

static const char *cell_text(const struct cell *cell, bool use_unicode)
{
	static const char *const box[16] = {
		[0] = " ",
		[UP] = "\u2502",
		[DOWN] = "\u2502",
		[UP | DOWN] = "\u2502",
		[LEFT] = "\u2500",
		[RIGHT] = "\u2500",
		[LEFT | RIGHT] = "\u2500",
		[UP | LEFT] = "\u2518",
		[UP | RIGHT] = "\u2514",
		[DOWN | LEFT] = "\u2510",
		[DOWN | RIGHT] = "\u250c",
		[UP | DOWN | LEFT] = "\u2524",
		[UP | DOWN | RIGHT] = "\u251c",
		[LEFT | RIGHT | UP] = "\u2534",
		[LEFT | RIGHT | DOWN] = "\u252c",
		[UP | DOWN | LEFT | RIGHT] = "\u253c",
	};
	unsigned lines = cell->lines & 15u;

	if (cell->lines & ARROW)
		return use_unicode ? "\u25bc" : "v";
	if (use_unicode)
		return box[lines];
	if (!lines)
		return " ";
	if (!(lines & (LEFT | RIGHT)))
		return "|";
	return lines & (UP | DOWN) ? "+" : "-";
}

static void print_grid(const struct view *view, const struct cell *grid, int rows)
{
	for (int row = 0; row < rows; row++) {
		const struct cell *cells = grid + row * view->width;
		int last = view->width - 1;

		while (last >= 0 && !cells[last].lines)
			last--;
		for (int column = 0; column <= last; column++)
			fputs(cell_text(&cells[column], view->use_unicode), view->out);
		fputc('\n', view->out);
	}
}

/* The rows between a layer and the one below: a stub, the tracks, the arrows. */
static void print_edges(const struct drawing *drawing, int layer)
{
	size_t from = drawing->start[layer], number = drawing->start[layer + 1] - from;
	struct track *tracks = xcalloc(number, sizeof(*tracks));
	int width = drawing->view->width, rows;
	struct cell *grid;

	for (size_t i = 0; i < number; i++)
		tracks[i] = make_track(drawing, drawing->sorted[from + i]);
	rows = assign_rows(tracks, number) + 2;
	grid = xcalloc((size_t)(rows * width), sizeof(*grid));
	for (size_t i = 0; i < number; i++) {
		if (tracks[i].row >= 0)
			draw_track(grid, width, &tracks[i]);
	}
	for (size_t i = 0; i < number; i++) {
		uint32_t node = tracks[i].node;
		bool has_edges = false;

		for (size_t e = 0; e < drawing->num_edges; e++) {
			const struct edge *edge = &drawing->edges[e];

			if (edge->from != node)
				continue;
			has_edges = true;
			draw_vertical(grid, width, node, edge->port,
				      tracks[i].row < 0 ? 0 : tracks[i].row + 1, rows - 1);
			if (drawing->nodes[edge->to].label)
				grid[(rows - 1) * width + edge->port].lines |= ARROW;
		}
		if (has_edges && tracks[i].row >= 0)
			draw_vertical(grid, width, node, center(&drawing->nodes[node]), 0,
				      tracks[i].row + 1);
	}
	print_grid(drawing->view, grid, rows);
	free(grid);
	free(tracks);
}

static void print_layer(const struct drawing *drawing, int layer)
{
	const struct view *view = drawing->view;
	int column = 0;

	for (size_t i = drawing->start[layer]; i < drawing->start[layer + 1]; i++) {
		const struct node *node = &drawing->nodes[drawing->sorted[i]];
		const char *joint = view->use_unicode ? "\u2502" : "|";

		fprintf(view->out, "%*s%s", node->left - column, "",
			node->label ? node->label : joint);
		column = node->left + (node->label ? (int)text_columns(node->label) : 1);
	}
	fputc('\n', view->out);
}

/* ---- All of it ---------------------------------------------------------------------------- */

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
		print_layer(&drawing, layer);
		if (layer > 0)
			print_edges(&drawing, layer);
	}
	for (size_t n = 0; n < drawing.num_nodes; n++)
		free(drawing.nodes[n].label);
	free(drawing.nodes);
	free(drawing.edges);
	free(drawing.sorted);
	free(drawing.start);
	return result;
}
