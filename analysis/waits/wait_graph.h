/* SPDX-License-Identifier: BSD-3-Clause
 * The wait-for graph as an AND/OR graph, by counts and message queues (waitfor): which nodes may go
 * on, and which wait only for each other. */
#pragma once

#include "model/base.h"

enum wait_mode {
	WAIT_FREE,      /* released */
	WAIT_ALL,       /* released when all that its edges lead to are */
	WAIT_ANY,       /* released when one is; without edges never */
	WAIT_POLLS_ALL, /* the same of one that polls: free unless it is taken to go on polling */
	WAIT_POLLS_ANY,
};

/* The edges of node n are to[first[n]] up to to[first[n + 1]]. */
struct wait_graph {
	struct arena *arena; /* borrowed, as in all that is found of the graph */
	size_t num_nodes, num_edges;
	size_t *first; /* [num_nodes + 1] */
	uint32_t *to;
	uint8_t *mode; /* [num_nodes] enum wait_mode */
	size_t capacity;
};

/* Nodes are added in order: the edges of one, then its end. There are most_nodes at most. */
struct wait_graph *wait_graph_create(struct arena *arena, size_t most_nodes);
void wait_graph_add_edge(struct wait_graph *graph, uint32_t to);
void wait_graph_end_node(struct wait_graph *graph, enum wait_mode mode);

/* The least fixpoint, from what is free backwards: each node and edge once. Of [num_nodes], which
 * are released, though of the first num_held nodes those in is_held never are; that may be NULL. */
bool *wait_graph_release(const struct wait_graph *graph, bool polls_on, const bool *is_held,
			 size_t num_held);

/* Nodes that all wait for each other. */
struct wait_knot {
	uint32_t *nodes;
	size_t num_nodes;
};

/* The strongly connected components from which no edge leads to another one, without what is free.
 * All that is not released leads to one of these, or to a node without edges. */
struct wait_knots {
	struct arena *arena;
	const struct wait_graph *graph;
	struct wait_knot *knots;
	size_t num_knots, capacity;
	uint32_t *knot_of;       /* [num_nodes] that a node is in, or leads to; UINT32_MAX: none */
	struct wait_way *before; /* room for circles */
	uint32_t *queue;
};

/* Of what is not released, or of all with NULL; polls_only: those in which somebody polls. Tarjan,
 * "Depth-first search and linear graph algorithms" (SIAM J. Comput. 1972), without recursion. */
struct wait_knots *wait_graph_find_knots(const struct wait_graph *graph, const bool *is_released,
					 bool polls_only, struct arena *arena);

/* An edge on the way round a circle. */
struct wait_way {
	uint32_t from, to;
	size_t edge; /* in graph.to */
};
/* May `next` follow `last` on a way from `start`? last->from is UINT32_MAX at the start. */
typedef bool wait_way_test(const void *context, uint32_t start, const struct wait_way *last,
			   const struct wait_way *next);

/* The length of the first shortest way in a knot from a start back to it, or 0. test: or NULL. */
size_t wait_knots_circle(struct wait_knots *knots, const uint32_t *starts, size_t num,
			 wait_way_test *test, const void *context, struct wait_way **way_ret);
