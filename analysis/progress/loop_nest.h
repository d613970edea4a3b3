/* SPDX-License-Identifier: BSD-3-Clause
 * The loop nest forest of a directed graph, irreducible loops included.
 *
 * After Wei, Mao, Zou and Chen, "A New Algorithm for Identifying Loops in Decompilation" (SAS
 * 2007): one depth-first search. Deterministic: successors are visited in the order the edges were
 * added, so the caller adds them in the order first seen. */
#ifndef PDB_ANALYSIS_LOOP_NEST_H
#define PDB_ANALYSIS_LOOP_NEST_H

#include "analysis/graph.h"

#define LOOP_NONE UINT32_MAX

struct loop {
	uint32_t header;     /* node */
	uint32_t parent;     /* enclosing loop, or LOOP_NONE */
	uint32_t depth;      /* 0: outermost */
	bool is_irreducible; /* has entries besides its header */
};

struct loop_nest {
	struct loop *loops; /* outer before inner */
	size_t num_loops;
	uint32_t *loop_of; /* [nodes] innermost loop that contains the node, or LOOP_NONE */
	/* Nodes in the order in which the search left them, those that the root leads to first. */
	uint32_t *postorder;
	size_t num_reachable;
};

/* Nodes that root does not reach are searched from too, ascending. It lives in the arena. */
struct loop_nest *loop_nest_create(struct arena *arena, const struct graph *graph, uint32_t root);

/* Does the loop contain the node? */
bool loop_nest_contains(const struct loop_nest *nest, uint32_t loop, uint32_t node);
/* The innermost loop that contains both, or LOOP_NONE. */
uint32_t loop_nest_common(const struct loop_nest *nest, uint32_t node_a, uint32_t node_b);

#endif
