/* SPDX-License-Identifier: BSD-3-Clause
 * A layered drawing of a small acyclic graph, made of characters:
 *
 *	  4:[0-3] MPI_Allgather
 *	            |
 *	       +----+-----+
 *	       v          v
 *	   1:[5] halo   1:[4] halo  *
 *
 * Every node is one line of text, and every edge leads downwards. Edges branch only below their
 * source and never join, so each arrow leads to just one node. Where two lines cross, the vertical
 * one is drawn through. Layers are counted from the bottom: nodes without outgoing edges are in the
 * lowest layer. */
#ifndef PDB_RENDER_ASCII_GRAPH_H
#define PDB_RENDER_ASCII_GRAPH_H

#include "model/std.h"

struct arena;
struct view;

struct ascii_graph_node {
	const char *label; /* cut if the layer has no room for it */
	bool is_marked;    /* drawn with " *" behind the label */
};

struct ascii_graph_edge {
	uint32_t from, to; /* indexes of nodes */
};

/* Which nodes reach which, directly or not, as [from * num_nodes + to]. In the arena. */
bool *ascii_graph_reach(struct arena *arena, size_t num_nodes, const struct ascii_graph_edge *edges,
			size_t num_edges);

/* Remove duplicate edges, edges from a node to itself, and edges that a longer path replaces. The
 * graph has no cycle. Returns the number of edges left, sorted by from, then to. */
size_t ascii_graph_reduce(struct arena *arena, size_t num_nodes, struct ascii_graph_edge *edges,
			  size_t num_edges);

/* Print the graph. Returns 0. Returns -1 and prints nothing if it has a cycle, or does not fit
 * view->width even with labels of a few characters: then show it as a list. */
int ascii_graph_print(const struct view *view, const struct ascii_graph_node *nodes,
		      size_t num_nodes, const struct ascii_graph_edge *edges, size_t num_edges);

#endif
