/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/waits/wait_graph.h"

/* A way from a node that waits back to it takes two edges at least. */
enum { SHORTEST = 2 };

struct wait_graph *wait_graph_create(struct arena *arena, size_t most_nodes)
{
	struct wait_graph *graph = arena_alloc(arena, sizeof(*graph));

	graph->arena = arena;
	graph->first = arena_array(arena, most_nodes + 1, sizeof(*graph->first));
	graph->mode = arena_array(arena, most_nodes, sizeof(*graph->mode));
	return graph;
}

void wait_graph_add_edge(struct wait_graph *graph, uint32_t to)
{
	*ARENA_PUSH(graph->arena, graph->to, graph->num_edges, graph->capacity) = to;
}

void wait_graph_end_node(struct wait_graph *graph, enum wait_mode mode)
{
	graph->mode[graph->num_nodes++] = (uint8_t)mode;
	graph->first[graph->num_nodes] = graph->num_edges;
}

/* ---- Release ---- */

/* The edges backwards: to node n from from[first[n]] up to from[first[n + 1]]. */
struct backwards {
	size_t *first;
	uint32_t *from;
};

static struct backwards turn_around(const struct wait_graph *graph, struct arena *arena)
{
	size_t *first = arena_array(arena, graph->num_nodes + 2, sizeof(*first));
	uint32_t *from = arena_array(arena, graph->num_edges, sizeof(*from));
	/* One ahead, so that filling moves each to its place. */
	size_t *next = first + 1;

	for (size_t e = 0; e < graph->num_edges; e++)
		first[graph->to[e] + 2]++;
	for (size_t n = 0; n < graph->num_nodes; n++)
		first[n + 2] += first[n + 1];
	for (uint32_t n = 0; n < graph->num_nodes; n++)
		for (size_t e = graph->first[n]; e < graph->first[n + 1]; e++)
			from[next[graph->to[e]]++] = n;
	return (struct backwards){first, from};
}

static bool takes_all(uint8_t mode)
{
	return mode == WAIT_ALL || mode == WAIT_POLLS_ALL;
}

static bool polls(uint8_t mode)
{
	return mode == WAIT_POLLS_ALL || mode == WAIT_POLLS_ANY;
}

bool *wait_graph_release(const struct wait_graph *graph, bool polls_on, const bool *is_held,
			 size_t num_held)
{
	bool *is_released = arena_array(graph->arena, graph->num_nodes, sizeof(*is_released));
	struct arena *scratch = arena_create();
	struct backwards back = turn_around(graph, scratch);
	size_t *num_open = arena_array(scratch, graph->num_nodes, sizeof(*num_open));
	uint32_t *queue = arena_array(scratch, graph->num_nodes, sizeof(*queue));
	bool *is_stuck = arena_array(scratch, graph->num_nodes, sizeof(*is_stuck));
	size_t num_queue = 0;

	if (is_held)
		memcpy(is_stuck, is_held, num_held * sizeof(*is_held));
	for (uint32_t n = 0; n < graph->num_nodes; n++) {
		num_open[n] = graph->first[n + 1] - graph->first[n];
		is_released[n] = !is_stuck[n] && (graph->mode[n] == WAIT_FREE ||
						  (!polls_on && polls(graph->mode[n])));
		if (is_released[n])
			queue[num_queue++] = n;
	}
	for (size_t i = 0; i < num_queue; i++) {
		for (size_t e = back.first[queue[i]]; e < back.first[queue[i] + 1]; e++) {
			uint32_t n = back.from[e];

			if (is_released[n] || is_stuck[n] ||
			    (--num_open[n] > 0 && takes_all(graph->mode[n])))
				continue;
			is_released[n] = true;
			queue[num_queue++] = n;
		}
	}
	arena_destroy(scratch);
	return is_released;
}

/* ---- Knots ---- */

struct finder {
	struct wait_knots *result;
	const struct wait_graph *graph;
	const bool *is_released;
	bool polls_only;
	uint32_t *number, *low; /* number 0: not visited yet */
	uint32_t *component_of; /* number of its first node; 0: none yet */
	uint32_t *stack, *way;  /* nodes without a component; from the root to here */
	size_t *next_edge;
	size_t num_stack, num_way;
	uint32_t num_visited;
};

static bool is_out(const struct finder *f, uint32_t node)
{
	return f->is_released && f->is_released[node];
}

static void add_knot(struct wait_knots *knots, const uint32_t *nodes, size_t num)
{
	struct arena *arena = knots->arena;
	struct wait_knot *knot = ARENA_PUSH(arena, knots->knots, knots->num_knots, knots->capacity);

	knot->nodes = arena_array(arena, num, sizeof(*knot->nodes));
	knot->num_nodes = num;
	memcpy(knot->nodes, nodes, num * sizeof(*nodes));
}

/* All that can be reached from these nodes, a component, has been looked at. */
static void close_component(struct finder *f, const uint32_t *nodes, size_t num)
{
	struct wait_knots *result = f->result;
	bool is_cycle = num > 1, leads_on = false, has_poll = false, has_free = false;
	uint32_t knot = UINT32_MAX, component = f->number[nodes[0]];

	for (size_t i = 0; i < num; i++)
		f->component_of[nodes[i]] = component;
	for (size_t i = 0; i < num; i++) {
		has_poll |= polls(f->graph->mode[nodes[i]]);
		has_free |= f->graph->mode[nodes[i]] == WAIT_FREE;
		for (size_t e = f->graph->first[nodes[i]]; e < f->graph->first[nodes[i] + 1]; e++) {
			uint32_t to = f->graph->to[e];

			if (is_out(f, to))
				continue;
			is_cycle |= to == nodes[i];
			if (f->component_of[to] == component)
				continue;
			leads_on = true;
			if (knot == UINT32_MAX)
				knot = result->knot_of[to];
		}
	}
	if (is_cycle && !leads_on && !has_free && (has_poll || !f->polls_only)) {
		knot = (uint32_t)result->num_knots;
		add_knot(result, nodes, num);
	}
	for (size_t i = 0; i < num; i++)
		result->knot_of[nodes[i]] = knot;
}

static void enter(struct finder *f, uint32_t node)
{
	f->number[node] = f->low[node] = ++f->num_visited;
	f->next_edge[node] = f->graph->first[node];
	f->stack[f->num_stack++] = node;
	f->way[f->num_way++] = node;
}

static void leave(struct finder *f, uint32_t node)
{
	size_t begin = f->num_stack;

	f->num_way--;
	if (f->num_way > 0 && f->low[node] < f->low[f->way[f->num_way - 1]])
		f->low[f->way[f->num_way - 1]] = f->low[node];
	if (f->low[node] != f->number[node])
		return;
	do
		begin--;
	while (f->stack[begin] != node);
	close_component(f, f->stack + begin, f->num_stack - begin);
	f->num_stack = begin;
}

static void visit(struct finder *f, uint32_t root)
{
	enter(f, root);
	while (f->num_way > 0) {
		uint32_t node = f->way[f->num_way - 1], to;

		if (f->next_edge[node] == f->graph->first[node + 1]) {
			leave(f, node);
			continue;
		}
		to = f->graph->to[f->next_edge[node]++];
		if (is_out(f, to) || f->component_of[to])
			continue;
		if (!f->number[to])
			enter(f, to);
		else if (f->number[to] < f->low[node])
			f->low[node] = f->number[to];
	}
}

struct wait_knots *wait_graph_find_knots(const struct wait_graph *graph, const bool *is_released,
					 bool polls_only, struct arena *arena)
{
	struct wait_knots *knots = arena_alloc(arena, sizeof(*knots));
	struct arena *scratch = arena_create();
	size_t num = graph->num_nodes;
	struct finder f = {
		.result = knots,
		.graph = graph,
		.is_released = is_released,
		.polls_only = polls_only,
		.number = arena_array(scratch, num, sizeof(uint32_t)),
		.low = arena_array(scratch, num, sizeof(uint32_t)),
		.component_of = arena_array(scratch, num, sizeof(uint32_t)),
		.stack = arena_array(scratch, num, sizeof(uint32_t)),
		.way = arena_array(scratch, num, sizeof(uint32_t)),
		.next_edge = arena_array(scratch, num, sizeof(size_t)),
	};

	knots->arena = arena;
	knots->graph = graph;
	knots->knot_of = arena_array(arena, num, sizeof(*knots->knot_of));
	memset(knots->knot_of, 0xff, num * sizeof(*knots->knot_of));
	for (uint32_t n = 0; n < num; n++)
		if (!is_out(&f, n) && !f.number[n])
			visit(&f, n);
	arena_destroy(scratch);
	if (knots->num_knots == 0)
		return knots;
	knots->before = arena_array(arena, num, sizeof(*knots->before));
	memset(knots->before, 0xff, num * sizeof(*knots->before));
	knots->queue = arena_array(arena, num, sizeof(*knots->queue));
	return knots;
}

/* ---- Circles ---- */

/* Breadth first; how many nodes were seen. `before` has the edge by which each was reached. */
static size_t search_back(struct wait_knots *knots, uint32_t start, wait_way_test *test,
			  const void *context)
{
	const struct wait_graph *graph = knots->graph;
	size_t head = 0, tail = 0;

	knots->queue[tail++] = start;
	while (head < tail) {
		uint32_t from = knots->queue[head++];
		const struct wait_way *last = &knots->before[from];

		for (size_t e = graph->first[from]; e < graph->first[from + 1]; e++) {
			struct wait_way next = {from, graph->to[e], e};

			if (knots->before[next.to].from != UINT32_MAX ||
			    knots->knot_of[next.to] != knots->knot_of[start] ||
			    (test && !test(context, start, last, &next)))
				continue;
			knots->before[next.to] = next;
			if (next.to == start)
				return tail;
			knots->queue[tail++] = next.to;
		}
	}
	return tail;
}

/* The length of the way round that was found; 0: none was. */
static size_t count_back(const struct wait_way *before, uint32_t start)
{
	uint32_t at = before[start].from;
	size_t length = 1;

	if (at == UINT32_MAX)
		return 0;
	for (; at != start; at = before[at].from)
		length++;
	return length;
}

size_t wait_knots_circle(struct wait_knots *knots, const uint32_t *starts, size_t num,
			 wait_way_test *test, const void *context, struct wait_way **way_ret)
{
	size_t best = 0;

	*way_ret = NULL;
	for (size_t i = 0; i < num && best != SHORTEST; i++) {
		size_t num_seen = search_back(knots, starts[i], test, context);
		size_t left = count_back(knots->before, starts[i]);

		if (left > 0 && (best == 0 || left < best)) {
			if (best == 0)
				*way_ret = arena_array(knots->arena, left, sizeof(**way_ret));
			best = left;
			for (uint32_t at = starts[i]; left > 0; at = (*way_ret)[left].from)
				(*way_ret)[--left] = knots->before[at];
		}
		for (size_t k = 0; k < num_seen; k++)
			knots->before[knots->queue[k]].from = UINT32_MAX;
	}
	return best;
}
