/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/graph.h"
#include "model/arena.h"
#include "model/job/pair_map.h"

struct node {
	uint32_t *successors;
	size_t num, capacity;
};

struct graph {
	struct arena *arena;
	struct node *nodes;
	size_t num_nodes;
	/* So that a node with many successors does not make adding them quadratic. */
	struct pair_map *edges;
};

struct graph *graph_create(struct arena *arena, size_t num_nodes)
{
	struct graph *graph = arena_alloc(arena, sizeof(*graph));

	graph->arena = arena;
	graph->edges = pair_map_in(arena);
	graph->nodes = arena_array(arena, num_nodes, sizeof(*graph->nodes));
	graph->num_nodes = num_nodes;
	return graph;
}

void graph_add_edge(struct graph *graph, uint32_t from, uint32_t to)
{
	struct node *node = &graph->nodes[from];

	if (pair_map_get(graph->edges, pair_key(from, to)) != PAIR_NONE)
		return;
	pair_map_add(graph->edges, pair_key(from, to), 0);
	*ARENA_PUSH(graph->arena, node->successors, node->num, node->capacity) = to;
}

size_t graph_num_nodes(const struct graph *graph)
{
	return graph->num_nodes;
}

const uint32_t *graph_successors(const struct graph *graph, uint32_t node, size_t *num_ret)
{
	*num_ret = graph->nodes[node].num;
	return graph->nodes[node].successors;
}
