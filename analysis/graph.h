/* SPDX-License-Identifier: BSD-3-Clause
 * A small directed graph over nodes 0..n-1; successors keep the order in which edges were added. */
#ifndef PDB_ANALYSIS_GRAPH_H
#define PDB_ANALYSIS_GRAPH_H

#include "model/std.h"

struct arena;
struct graph;

/* It lives in the arena. */
struct graph *graph_create(struct arena *arena, size_t num_nodes);
/* Parallel edges are kept once (the first). */
void graph_add_edge(struct graph *graph, uint32_t from, uint32_t to);
size_t graph_num_nodes(const struct graph *graph);
/* Borrowed, valid until the next edge is added. */
const uint32_t *graph_successors(const struct graph *graph, uint32_t node, size_t *num_ret);

#endif
