/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by ascii_graph.c, which places nodes and lines, and ascii_graph_draw.c, which prints
 * them. */
#ifndef PDB_RENDER_ASCII_GRAPH_PRIVATE_H
#define PDB_RENDER_ASCII_GRAPH_PRIVATE_H

#include "model/std.h"

enum { DRAWING_MAX_NODES = 200 }; /* joints included */

struct drawing_node {
	const char *label; /* NULL: a joint */
	bool is_marked;
	int width;
	int left;    /* column where the label begins */
	int layer;   /* 0: the bottom */
	int slot;    /* place in the layer, from the left */
	double wish; /* while ordering and placing: where its neighbours pull it */
};

struct drawing_edge {
	struct drawing_node *from, *to; /* to is on the layer below from */
	int port;                       /* column above `to` */
};

/* The nodes of a layer from left to right. */
struct drawing_layer {
	struct drawing_node *nodes[DRAWING_MAX_NODES];
	int num;
};

struct drawing {
	const struct view *view;
	struct drawing_node nodes[DRAWING_MAX_NODES];
	size_t num_nodes;
	struct drawing_edge *edges;
	size_t num_edges, edges_capacity;
	struct drawing_layer *layers;
	int num_layers;
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
