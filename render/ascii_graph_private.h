/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by ascii_graph.c, which decides where everything stands, and ascii_graph_draw.c, which
 * prints it. */
#ifndef PDB_RENDER_ASCII_GRAPH_PRIVATE_H
#define PDB_RENDER_ASCII_GRAPH_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view;

struct drawing_node {
	const char *label; /* NULL: a joint */
	bool is_marked;
	int width;
	int left;    /* column where the label begins */
	int layer;   /* 0: the bottom */
	int slot;    /* place in the layer, from the left */
	double wish; /* while ordering and placing: where the neighbours would have it */
};

struct drawing_edge {
	uint32_t from, to; /* to is on the layer below from */
	int port;          /* column above `to` */
};

struct drawing {
	const struct view *view;
	struct drawing_node *nodes;
	size_t num_nodes, nodes_capacity;
	struct drawing_edge *edges;
	size_t num_edges, edges_capacity;
	int num_layers;
	uint32_t *sorted; /* nodes by layer, then slot */
	size_t *start;    /* [num_layers + 1] into sorted */
};

/* The column of the line that leaves the node. */
static inline int drawing_center(const struct drawing_node *node)
{
	return node->left + node->width / 2;
}

/* One line: the labels of a layer, and lines through its joints. */
void drawing_print_layer(const struct drawing *drawing, int layer);
/* The lines between a layer and the one below: a stub, the tracks, the arrows. */
void drawing_print_edges(const struct drawing *drawing, int layer);

#endif
