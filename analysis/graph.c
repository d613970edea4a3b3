/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/graph.h"
#include "model/arena.h"
#include "model/job/pair_map.h"

struct node {
	uint32_t *successors;
	size_t num;
	size_t capacity;
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
	node->successors = arena_grow(graph->arena, node->successors, node->num, &node->capacity,
				      sizeof(*node->successors));
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

/* ---- Components ---- */

struct search {
	const struct graph *graph;
	uint32_t *component_of; /* UINT32_MAX: none yet */
	uint32_t *number, *low; /* number 0: not visited yet */
	uint32_t *stack, *way;  /* nodes without a component; from the root to here */
	size_t *next;           /* successor to look at */
	size_t num_stack, num_way;
	uint32_t num_visited, num_components;
};

static void visit(struct search *s, uint32_t node)
{
	s->number[node] = s->low[node] = ++s->num_visited;
	s->stack[s->num_stack++] = node;
	s->way[s->num_way++] = node;
}

/* All that can be reached from the node has been looked at. */
static void leave(struct search *s, uint32_t node)
{
	uint32_t member;

	s->num_way--;
	if (s->num_way && s->low[node] < s->low[s->way[s->num_way - 1]])
		s->low[s->way[s->num_way - 1]] = s->low[node];
	if (s->low[node] != s->number[node])
		return;
	do {
		member = s->stack[--s->num_stack];
		s->component_of[member] = s->num_components;
	} while (member != node);
	s->num_components++;
}

static void search_from(struct search *s, uint32_t root)
{
	visit(s, root);
	while (s->num_way) {
		uint32_t node = s->way[s->num_way - 1], to;

		if (s->next[node] == s->graph->nodes[node].num) {
			leave(s, node);
			continue;
		}
		to = s->graph->nodes[node].successors[s->next[node]++];
		if (!s->number[to])
			visit(s, to);
		else if (s->component_of[to] == UINT32_MAX && s->number[to] < s->low[node])
			s->low[node] = s->number[to];
	}
}

uint32_t graph_components(const struct graph *graph, uint32_t *component_of)
{
	size_t num = graph->num_nodes;
	struct arena *scratch = arena_create();
	struct search s = {
		.graph = graph,
		.component_of = component_of,
		.number = arena_array(scratch, num, sizeof(uint32_t)),
		.low = arena_array(scratch, num, sizeof(uint32_t)),
		.stack = arena_array(scratch, num, sizeof(uint32_t)),
		.way = arena_array(scratch, num, sizeof(uint32_t)),
		.next = arena_array(scratch, num, sizeof(size_t)),
	};

	for (size_t i = 0; i < num; i++)
		component_of[i] = UINT32_MAX;
	for (size_t i = 0; i < num; i++)
		if (!s.number[i])
			search_from(&s, (uint32_t)i);
	arena_destroy(scratch);
	return s.num_components;
}
