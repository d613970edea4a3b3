/* SPDX-License-Identifier: BSD-3-Clause
 * A small directed graph over nodes 0..n-1; successors keep the order in which edges were added. */
#ifndef PDB_ANALYSIS_GRAPH_H
#define PDB_ANALYSIS_GRAPH_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct graph;

/* It lives in the arena. */
struct graph *graph_create(struct arena *arena, size_t num_nodes);
/* Parallel edges are kept once (the first). */
void graph_add_edge(struct graph *graph, uint32_t from, uint32_t to);
size_t graph_num_nodes(const struct graph *graph);
/* Borrowed, valid until the next edge is added. */
const uint32_t *graph_successors(const struct graph *graph, uint32_t node, size_t *num_ret);
/* Strongly connected components: the number of each node's into component_of ([num_nodes]), from
 * 0 on; edges between components lead to lower numbers. Returns how many there are. Tarjan,
 * "Depth-first search and linear graph algorithms" (SIAM J. Comput. 1972), without recursion. */
uint32_t graph_components(const struct graph *graph, uint32_t *component_of);

#endif
