/* SPDX-License-Identifier: BSD-3-Clause
 * The four steps of Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical
 * System Structures" (IEEE SMC 1981):
 *   layer    a number for each node, so that edges lead downwards; an edge over several layers
 *            gets a joint, an invisible node, on each layer that it passes
 *   order    the nodes of a layer from left to right, by the mean place of their neighbours
 *   place    columns: as near to the neighbours' middle as the order and the width allow
 *   route    between two layers each node's edges share one horizontal line (its track) and end
 *            in ports, columns of their own above the target */
#include <sys/param.h>

#include "render/draw/ascii_graph.h"
#include "render/draw/ascii_graph_private.h"
#include "render/text/text.h"
#include "render/view.h"

enum {
	MARGIN = 2,       /* columns left of the drawing */
	GAP = 3,          /* columns between two nodes */
	LEAST_LABEL = 10, /* least columns of a label */
	JOINT_WIDTH = 1,
	ORDER_SWEEPS = 8,
	PLACE_SWEEPS = 6,
};

/* Printed behind the label of a marked node, also when the label is cut. */
static const char MARK[] = "  *";

/* NULL: there are too many. */
static struct drawing_node *add_node(struct drawing *drawing, const char *label, bool is_marked,
				     int layer)
{
	struct drawing_node *node = &drawing->nodes[drawing->num_nodes];

	if (drawing->num_nodes == DRAWING_MAX_NODES)
		return NULL;
	drawing->num_nodes++;
	*node = (struct drawing_node){
		.label = label, .is_marked = is_marked, .width = JOINT_WIDTH, .layer = layer};
	if (label)
		node->width = (int)(text_columns(label) + (is_marked ? strlen(MARK) : 0));
	return node;
}

static void add_edge(struct drawing *drawing, struct drawing_node *from, struct drawing_node *to)
{
	*ARENA_PUSH(drawing->view->arena, drawing->edges, drawing->num_edges,
		    drawing->edges_capacity) =
		(struct drawing_edge){.from = from, .to = to, .port = -1};
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
	bool has_changed = true;

	for (size_t round = 0; has_changed; round++) {
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
	for (size_t n = 0; n < drawing->num_nodes; n++)
		drawing->num_layers = MAX(drawing->num_layers, nodes[n].layer + 1);
	return 0;
}

/* Edges between neighbouring layers, with joints where an edge passes a layer. */
static int split_edges(struct drawing *drawing, const struct ascii_graph_edge *edges,
		       size_t num_edges)
{
	for (size_t e = 0; e < num_edges; e++) {
		struct drawing_node *from = &drawing->nodes[edges[e].from], *joint;
		struct drawing_node *to = &drawing->nodes[edges[e].to];

		for (; from->layer > to->layer + 1; from = joint) {
			joint = add_node(drawing, NULL, false, from->layer - 1);
			if (!joint)
				return -1;
			add_edge(drawing, from, joint);
		}
		add_edge(drawing, from, to);
	}
	return 0;
}

/* The nodes of each layer, in the order of their numbers. */
static void fill_layers(struct drawing *drawing)
{
	drawing->layers = arena_array(drawing->view->arena, (size_t)drawing->num_layers,
				      sizeof(*drawing->layers));
	for (size_t n = 0; n < drawing->num_nodes; n++) {
		struct drawing_layer *layer = &drawing->layers[drawing->nodes[n].layer];

		drawing->nodes[n].slot = layer->num;
		layer->nodes[layer->num++] = &drawing->nodes[n];
	}
}

/* ---- Order ---- */

/* A stable sort: equal wishes keep their order, so drawings do not change. */
static void sort_layer(struct drawing_layer *layer)
{
	struct drawing_node **nodes = layer->nodes;

	for (int i = 1; i < layer->num; i++) {
		struct drawing_node *node = nodes[i];
		int j = i;

		for (; j > 0 && nodes[j - 1]->wish > node->wish; j--)
			nodes[j] = nodes[j - 1];
		nodes[j] = node;
	}
	for (int i = 0; i < layer->num; i++)
		nodes[i]->slot = i;
}

/* ---- Place ---- */

/* Cut the longest labels of a layer until its nodes fit side by side. -1: they do not fit. */
static int fit_layer(const struct view *view, struct drawing_layer *layer)
{
	int room = view->width - MARGIN - GAP * (layer->num - 1), total = 0;

	for (int i = 0; i < layer->num; i++)
		total += layer->nodes[i]->width;
	for (; total > room; total--) {
		struct drawing_node *widest = layer->nodes[0];

		for (int i = 1; i < layer->num; i++)
			if (layer->nodes[i]->width > widest->width)
				widest = layer->nodes[i];
		if (widest->width <= LEAST_LABEL)
			return -1;
		widest->width--;
	}
	for (int i = 0; i < layer->num; i++) {
		struct drawing_node *node = layer->nodes[i];
		const char *mark = node->is_marked ? MARK : "";

		if (node->label)
			node->label = text_of(view, "%s%s",
					      text_fit(view->arena, node->label,
						       (size_t)node->width - strlen(mark),
						       view->use_unicode),
					      mark);
	}
	return 0;
}

static int wished_left(const struct drawing_node *node)
{
	return (int)(node->wish + 0.5) - node->width / 2;
}

/* Place the nodes of a layer where they wish to be. Overlapping nodes are pushed right in one pass
 * and left in another; each node gets the middle of both results. */
static void place_layer(const struct view *view, struct drawing_layer *layer)
{
	int pushed[DRAWING_MAX_NODES], least = MARGIN, most = view->width;

	for (int i = 0; i < layer->num; i++) {
		pushed[i] = MAX(wished_left(layer->nodes[i]), least);
		least = pushed[i] + layer->nodes[i]->width + GAP;
	}
	/* Push nodes beyond the width back. */
	for (int i = layer->num; i-- > 0;) {
		pushed[i] = MIN(pushed[i], most - layer->nodes[i]->width);
		most = pushed[i] - GAP;
	}
	most = view->width;
	for (int i = layer->num; i-- > 0;) {
		struct drawing_node *node = layer->nodes[i];

		node->left = MIN(wished_left(node), most - node->width);
		most = node->left - GAP;
	}
	least = MARGIN;
	for (int i = 0; i < layer->num; i++) {
		struct drawing_node *node = layer->nodes[i];

		node->left = MAX(node->left, least);
		least = node->left + node->width + GAP;
		node->left = (node->left + pushed[i]) / 2;
	}
}

/* Move the drawing to the left margin. */
static void move_to_margin(struct drawing *drawing)
{
	int left = drawing->view->width;

	for (size_t n = 0; n < drawing->num_nodes; n++)
		left = MIN(left, drawing->nodes[n].left);
	for (size_t n = 0; n < drawing->num_nodes; n++)
		drawing->nodes[n].left -= left - MARGIN;
}

/* First placement: the nodes of each layer close together, centred below the widest layer. */
static void place_in_middle(struct drawing *drawing)
{
	int widest = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (int l = 0; l < drawing->num_layers; l++) {
			struct drawing_layer *layer = &drawing->layers[l];
			int width = GAP * (layer->num - 1), left;

			for (int i = 0; i < layer->num; i++)
				width += layer->nodes[i]->width;
			widest = MAX(widest, width);
			left = MARGIN + (widest - width) / 2;
			for (int i = 0; i < layer->num; i++) {
				layer->nodes[i]->left = left;
				left += layer->nodes[i]->width + GAP;
			}
		}
	}
}

/* ---- Order and place ---- */

/* Set wishes: the mean slot, or column, of the neighbours above or below; without neighbours its
 * own. */
static void wish_mean(struct drawing *drawing, struct drawing_layer *layer, bool from_above,
		      bool is_order)
{
	for (int i = 0; i < layer->num; i++) {
		struct drawing_node *self = layer->nodes[i];
		double sum = 0;
		int number = 0;

		for (size_t e = 0; e < drawing->num_edges; e++) {
			const struct drawing_edge *edge = &drawing->edges[e];
			const struct drawing_node *other = from_above ? edge->from : edge->to;

			if ((from_above ? edge->to : edge->from) != self)
				continue;
			sum += is_order ? other->slot : drawing_center(other);
			number++;
		}
		self->wish = number ? sum / number : is_order ? self->slot : drawing_center(self);
	}
}

/* Alternate: from the bottom up, from the top down. */
static void sweep_layers(struct drawing *drawing, int sweeps, bool is_order)
{
	for (int sweep = 0; sweep < sweeps; sweep++) {
		bool from_above = sweep % 2;

		for (int i = 1; i < drawing->num_layers; i++) {
			struct drawing_layer *layer =
				&drawing->layers[from_above ? drawing->num_layers - 1 - i : i];

			wish_mean(drawing, layer, from_above, is_order);
			if (is_order)
				sort_layer(layer);
			else
				place_layer(drawing->view, layer);
		}
	}
}

/* ---- Route ---- */

static bool is_source_column(const struct drawing_layer *layer, int column,
			     const struct drawing_node *apart_from)
{
	for (int i = 0; i < layer->num; i++)
		if (layer->nodes[i] != apart_from && drawing_center(layer->nodes[i]) == column)
			return true;
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

/* The column nearest to `wish` above the target that is not a port yet and not below another node's
 * centre. So no two vertical lines run into each other. -1: there is none. */
static int choose_port(const struct drawing *drawing, const struct drawing_edge *edge, int wish)
{
	const struct drawing_node *to = edge->to;

	for (int off = 0; off <= to->width; off++) {
		for (int sign = -1; sign <= 1; sign += 2) {
			int column = wish + sign * off;

			if (column >= to->left && column < to->left + to->width &&
			    !is_source_column(&drawing->layers[to->layer + 1], column,
					      edge->from) &&
			    !is_port_taken(drawing, edge, column))
				return column;
		}
	}
	return -1;
}

/* A joint is one column wide: move it aside if two lines would run into each other. */
static int move_joint(struct drawing *drawing, struct drawing_edge *edge)
{
	struct drawing_node *joint = edge->to;
	const struct drawing_layer *layer = &drawing->layers[joint->layer];
	int least = MARGIN, most = drawing->view->width - 1;

	if (joint->slot > 0) {
		const struct drawing_node *node = layer->nodes[joint->slot - 1];

		least = node->left + node->width + 1;
	}
	if (joint->slot + 1 < layer->num)
		most = layer->nodes[joint->slot + 1]->left - 2;
	for (int column = least; column <= most; column++)
		if (!is_source_column(layer + 1, column, edge->from))
			return joint->left = column;
	return -1;
}

static int compare_sources(const void *a, const void *b)
{
	const struct drawing_edge *one = *(struct drawing_edge *const *)a,
				  *two = *(struct drawing_edge *const *)b;

	return drawing_center(one->from) - drawing_center(two->from);
}

/* Set the ports of the edges into one node, in the order of their sources, two columns apart. in:
 * room for all edges. */
static int assign_ports(struct drawing *drawing, const struct drawing_node *node,
			struct drawing_edge **in)
{
	int number = 0;

	for (size_t e = 0; e < drawing->num_edges; e++)
		if (drawing->edges[e].to == node)
			in[number++] = &drawing->edges[e];
	qsort(in, (size_t)number, sizeof(struct drawing_edge *), compare_sources);
	for (int i = 0; i < number; i++) {
		int source = drawing_center(in[i]->from);
		int wish = drawing_center(node) + 2 * i - (number - 1);

		/* Straight down where that is possible. */
		if (number == 1 && source >= node->left && source < node->left + node->width)
			wish = source;
		in[i]->port = choose_port(drawing, in[i], wish);
		if (in[i]->port < 0 && !node->label)
			in[i]->port = move_joint(drawing, in[i]);
		if (in[i]->port < 0)
			return -1;
	}
	return 0;
}

/* From the top, so that joints have their final place before edges leave them. */
static int route(struct drawing *drawing)
{
	struct drawing_edge **in = arena_array(drawing->view->arena, drawing->num_edges,
					       sizeof(struct drawing_edge *));

	for (int l = drawing->num_layers - 2; l >= 0; l--)
		for (int i = 0; i < drawing->layers[l].num; i++)
			if (assign_ports(drawing, drawing->layers[l].nodes[i], in))
				return -1;
	return 0;
}

/* ---- All of it ---- */

int ascii_graph_print(const struct view *view, const struct ascii_graph_node *nodes,
		      size_t num_nodes, const struct ascii_graph_edge *edges, size_t num_edges)
{
	struct drawing *drawing = arena_alloc(view->arena, sizeof(*drawing));

	drawing->view = view;
	if (num_nodes == 0)
		return 0;
	for (size_t n = 0; n < num_nodes; n++)
		if (!add_node(drawing, nodes[n].label, nodes[n].is_marked, 0))
			return -1;
	if (assign_layers(drawing, edges, num_edges) || split_edges(drawing, edges, num_edges))
		return -1;
	fill_layers(drawing);
	sweep_layers(drawing, ORDER_SWEEPS, true);
	for (int l = 0; l < drawing->num_layers; l++)
		if (fit_layer(view, &drawing->layers[l]))
			return -1;
	place_in_middle(drawing);
	sweep_layers(drawing, PLACE_SWEEPS, false);
	move_to_margin(drawing);
	if (route(drawing))
		return -1;
	for (int l = drawing->num_layers - 1; l >= 0; l--) {
		drawing_print_layer(drawing, l);
		if (l > 0)
			drawing_print_edges(drawing, l);
	}
	return 0;
}
