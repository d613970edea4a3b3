/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "analysis/graph.h"
#include "model/xalloc.h"

struct node {
	uint32_t *successors;
	size_t num;
	size_t capacity;
};

/* The edges are also kept as a set, by open addressing, so that a node with many successors does
 * not make adding them quadratic. */
#define EMPTY_SLOT UINT64_MAX

struct graph {
	struct node *nodes;
	size_t num_nodes;
	uint64_t *edges; /* [num_slots], a power of two */
	size_t num_edges;
	size_t num_slots;
};

struct graph *graph_create(size_t num_nodes)
{
	struct graph *graph = xcalloc(1, sizeof(*graph));

	graph->nodes = xcalloc(num_nodes, sizeof(*graph->nodes));
	graph->num_nodes = num_nodes;
	return graph;
}

void graph_destroy(struct graph *graph)
{
	if (!graph)
		return;
	for (size_t i = 0; i < graph->num_nodes; i++)
		free(graph->nodes[i].successors);
	free(graph->nodes);
	free(graph->edges);
	free(graph);
}

/* The slot that holds the edge, or the empty one where it belongs. */
static uint64_t *find_slot(uint64_t *edges, size_t num_slots, uint64_t edge)
{
	uint64_t hash = edge * 0x9e3779b97f4a7c15u;
	size_t i = (hash ^ (hash >> 32)) & (num_slots - 1);

	while (edges[i] != EMPTY_SLOT && edges[i] != edge)
		i = (i + 1) & (num_slots - 1);
	return &edges[i];
}

static void grow_edges(struct graph *graph)
{
	size_t num_slots = graph->num_slots ? graph->num_slots * 2 : 64;
	uint64_t *edges = xreallocarray(NULL, num_slots, sizeof(*edges));

	for (size_t i = 0; i < num_slots; i++)
		edges[i] = EMPTY_SLOT;
	for (size_t i = 0; i < graph->num_slots; i++)
		if (graph->edges[i] != EMPTY_SLOT)
			*find_slot(edges, num_slots, graph->edges[i]) = graph->edges[i];
	free(graph->edges);
	graph->edges = edges;
	graph->num_slots = num_slots;
}

void graph_add_edge(struct graph *graph, uint32_t from, uint32_t to)
{
	uint64_t edge = (uint64_t)from << 32 | to;
	struct node *node = &graph->nodes[from];
	uint64_t *slot;

	if (graph->num_edges * 2 >= graph->num_slots)
		grow_edges(graph);
	slot = find_slot(graph->edges, graph->num_slots, edge);
	if (*slot == edge)
		return;
	*slot = edge;
	graph->num_edges++;
	node->successors =
		xgrow(node->successors, node->num, &node->capacity, sizeof(*node->successors));
	node->successors[node->num++] = to;
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
