/* SPDX-License-Identifier: BSD-3-Clause
 * A layered drawing of a small acyclic graph, made of characters:
 *
 *	  4:[0-3] MPI_Allgather
 *	            |
 *	       +----+-----+
 *	       v          v
 *	   1:[5] halo   1:[4] halo  *
 *
 * Every node is one line of text, every edge leads downwards. Edges branch only below the node
 * that they come from and never join, so each arrow can be followed to just one node; where two
 * lines cross, the vertical one is drawn through. Nodes that nothing leads to from stand at the
 * bottom: layers are counted from there. */
#ifndef PDB_RENDER_ASCII_GRAPH_H
#define PDB_RENDER_ASCII_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct view;

struct ascii_graph_node {
	const char *label; /* cut where the layer has no room for it */
	bool is_marked;    /* drawn with " *" behind the label */
};

struct ascii_graph_edge {
	uint32_t from, to; /* indexes of nodes */
};

/* Which nodes lead to which, directly or not: [from * num_nodes + to]. */
bool *ascii_graph_reach(struct arena *arena, size_t num_nodes, const struct ascii_graph_edge *edges,
			size_t num_edges);

/* Leave each edge once, and none from a node to itself nor any that a way over others stands for.
 * The graph has no cycle. Returns how many are left, by from, then to. */
size_t ascii_graph_reduce(struct arena *arena, size_t num_nodes, struct ascii_graph_edge *edges,
			  size_t num_edges);

/* Print the graph. Returns 0; or -1, with nothing printed, if it has a cycle or does not fit
 * view->width even with labels cut to a few characters: then show it as a list. */
int ascii_graph_print(const struct view *view, const struct ascii_graph_node *nodes,
		      size_t num_nodes, const struct ascii_graph_edge *edges, size_t num_edges);

#endif
