/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/with_arena.h"
#include "unit.h"

#include "analysis/graph.h"
#include "analysis/progress/loop_nest.h"

/* ---- Small graphs, with the answer drawn ---- */

struct expected_loop {
	uint32_t header, parent;
	bool is_irreducible;
};

struct small_graph {
	const char *what;
	uint32_t num_nodes;
	uint32_t edges[16][2]; /* up to the first 0 -> 0 */
	uint32_t num_loops;
	struct expected_loop loops[4];
	uint32_t loop_of[10];
};

#define N LOOP_NONE

/* Node 0 enters; the numbers of MPI calls are those of Prodometer's figure 6. */
static const struct small_graph small_graphs[] = {
	{"type 1: for { 1; 2 }",
	 4,
	 {{0, 1}, {1, 2}, {2, 1}, {2, 3}},
	 1,
	 {{1, N, false}},
	 {N, 0, 0, N}},
	{"type 2: for { 1; if { 2 } 3 }",
	 5,
	 {{0, 1}, {1, 2}, {2, 3}, {1, 3}, {3, 1}, {3, 4}},
	 1,
	 {{1, N, false}},
	 {N, 0, 0, 0, N}},
	{"type 3: for { 1; if { 2 } else { 3 } 4 }",
	 5,
	 {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 1}},
	 1,
	 {{1, N, false}},
	 {N, 0, 0, 0, 0}},
	{"type 4: the arms go back themselves",
	 4,
	 {{0, 1}, {1, 2}, {1, 3}, {2, 1}, {3, 1}},
	 1,
	 {{1, N, false}},
	 {N, 0, 0, 0}},
	{"type 5: for { 1; 2; if { continue } 3 } or for { for { 1; 2 } 3 }",
	 4,
	 {{0, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 1}},
	 1,
	 {{1, N, false}},
	 {N, 0, 0, 0}},
	{"for { 1; for { 2 } 3 }",
	 5,
	 {{0, 1}, {1, 2}, {2, 2}, {2, 3}, {3, 1}, {3, 4}},
	 2,
	 {{1, N, false}, {2, 0, false}},
	 {N, 0, 1, 0, N}},
	{"goto into the middle of a loop",
	 4,
	 {{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 1}},
	 1,
	 {{1, N, true}},
	 {N, 0, 0, 0}},
	{"goto into the inner of two loops",
	 6,
	 {{0, 1}, {1, 2}, {2, 3}, {3, 2}, {3, 4}, {4, 1}, {1, 5}, {5, 3}},
	 2,
	 {{1, N, false}, {2, 0, true}},
	 {N, 0, 1, 1, 0, 0}},
	{"not reachable from the root", 4, {{2, 3}, {3, 2}}, 1, {{2, N, false}}, {N, N, 0, 0}},
	{"two loops side by side",
	 5,
	 {{0, 1}, {1, 1}, {1, 2}, {2, 3}, {3, 2}, {3, 4}},
	 2,
	 {{1, N, false}, {2, N, false}},
	 {N, 0, 1, 1, N}},
};

static void test_small_graphs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(small_graphs) / sizeof(small_graphs[0]); i++) {
		const struct small_graph *g = &small_graphs[i];
		struct graph *graph = graph_create(arena, g->num_nodes);

		print_message("%s\n", g->what);
		for (int e = 0; g->edges[e][0] || g->edges[e][1]; e++)
			graph_add_edge(graph, g->edges[e][0], g->edges[e][1]);
		struct loop_nest *nest = loop_nest_create(arena, graph, 0);

		assert_int_equal(nest->num_loops, g->num_loops);
		for (uint32_t l = 0; l < g->num_loops; l++) {
			assert_int_equal(nest->loops[l].header, g->loops[l].header);
			assert_int_equal(nest->loops[l].parent, g->loops[l].parent);
			assert_int_equal(nest->loops[l].is_irreducible, g->loops[l].is_irreducible);
		}
		for (uint32_t n = 0; n < g->num_nodes; n++)
			assert_int_equal(nest->loop_of[n], g->loop_of[n]);
	}
}

static void test_contains_and_common(void **state)
{
	/* 0 -> for { 1; for { 2; for { 3 } } for { 4 } } -> 5 */
	static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 3}, {3, 2},
					    {3, 4}, {4, 4}, {4, 1}, {4, 5}};
	struct graph *graph = graph_create(arena, 6);

	(void)state;
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		graph_add_edge(graph, edges[i][0], edges[i][1]);
	struct loop_nest *nest = loop_nest_create(arena, graph, 0);

	assert_int_equal(nest->num_loops, 4);
	assert_int_equal(loop_nest_common(nest, 3, 4), nest->loop_of[1]);
	assert_int_equal(loop_nest_common(nest, 4, 3), nest->loop_of[1]);
	assert_int_equal(loop_nest_common(nest, 3, 2), nest->loop_of[2]);
	assert_int_equal(loop_nest_common(nest, 3, 3), nest->loop_of[3]);
	assert_int_equal(loop_nest_common(nest, 3, 5), LOOP_NONE);
	assert_int_equal(loop_nest_common(nest, 0, 5), LOOP_NONE);
	assert_true(loop_nest_contains(nest, nest->loop_of[1], 3));
	assert_true(loop_nest_contains(nest, nest->loop_of[3], 3));
	assert_false(loop_nest_contains(nest, nest->loop_of[3], 2));
	assert_false(loop_nest_contains(nest, nest->loop_of[4], 3));
	assert_false(loop_nest_contains(nest, nest->loop_of[1], 5));
}

/* A search that recursed would overflow its stack here. */
static void test_long_chain(void **state)
{
	const uint32_t num = 65536;
	struct graph *graph = graph_create(arena, num);

	(void)state;
	for (uint32_t i = 0; i + 1 < num; i++)
		graph_add_edge(graph, i, i + 1);
	graph_add_edge(graph, num - 1, num / 2);
	graph_add_edge(graph, num - 1, 0);
	struct loop_nest *nest = loop_nest_create(arena, graph, 0);

	assert_int_equal(nest->num_loops, 2);
	assert_int_equal(nest->loops[1].header, num / 2);
	assert_int_equal(nest->loop_of[num / 2 - 1], 0);
	assert_int_equal(nest->loop_of[num - 1], 1);
}

/* ---- Random graphs against an oracle ---- */

/* A loop of a graph is a strongly connected part; its header is the node of it that a depth-first
 * search reaches first; the loops inside are those of the part without the header. */

#define MAX_NODES 24

struct oracle {
	uint32_t num;
	bool edge[MAX_NODES][MAX_NODES];
	uint32_t preorder[MAX_NODES];
	uint32_t num_reached;
	uint32_t num_loops;
	uint32_t header[MAX_NODES], around[MAX_NODES]; /* by loop */
	bool member[MAX_NODES][MAX_NODES];             /* [loop][node] */
};

static uint32_t seed;

static uint32_t random_below(uint32_t bound)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)seed * bound) >> 32);
}

static void number_nodes(struct oracle *o, const struct graph *graph, uint32_t node)
{
	size_t num;
	const uint32_t *successors = graph_successors(graph, node, &num);

	o->preorder[node] = o->num_reached++;
	for (size_t i = 0; i < num; i++)
		if (o->preorder[successors[i]] == UINT32_MAX)
			number_nodes(o, graph, successors[i]);
}

static void close_paths(const struct oracle *o, const bool *in, bool path[][MAX_NODES])
{
	for (uint32_t i = 0; i < o->num; i++)
		for (uint32_t j = 0; j < o->num; j++)
			path[i][j] = in[i] && in[j] && o->edge[i][j];
	for (uint32_t k = 0; k < o->num; k++)
		for (uint32_t i = 0; i < o->num; i++)
			for (uint32_t j = 0; path[i][k] && j < o->num; j++)
				path[i][j] |= path[k][j];
}

static void find_loops(struct oracle *o, const bool *in, uint32_t around)
{
	bool path[MAX_NODES][MAX_NODES];
	bool is_done[MAX_NODES] = {false};

	close_paths(o, in, path);
	for (uint32_t n = 0; n < o->num; n++) {
		bool part[MAX_NODES] = {false};
		uint32_t loop = o->num_loops;
		uint32_t header = n;

		if (is_done[n] || !in[n] || !path[n][n])
			continue;
		for (uint32_t m = 0; m < o->num; m++) {
			part[m] = path[n][m] && path[m][n];
			is_done[m] |= part[m];
			if (part[m] && o->preorder[m] < o->preorder[header])
				header = m;
		}
		o->num_loops++;
		o->header[loop] = header;
		o->around[loop] = around;
		memcpy(o->member[loop], part, sizeof(part));
		part[header] = false;
		find_loops(o, part, loop);
	}
}

static bool is_entered_beside_header(const struct oracle *o, uint32_t loop, uint32_t root)
{
	if (o->member[loop][root] && root != o->header[loop])
		return true;
	for (uint32_t from = 0; from < o->num; from++)
		for (uint32_t to = 0; to < o->num; to++)
			if (o->edge[from][to] && !o->member[loop][from] && o->member[loop][to] &&
			    to != o->header[loop])
				return true;
	return false;
}

static void check_against_oracle(const struct oracle *o, const struct loop_nest *nest)
{
	assert_int_equal(nest->num_loops, o->num_loops);
	for (uint32_t i = 0; i < o->num_loops; i++) {
		uint32_t loop = nest->loop_of[o->header[i]];

		assert_int_equal(nest->loops[loop].header, o->header[i]);
		if (o->around[i] == LOOP_NONE) {
			assert_int_equal(nest->loops[loop].parent, LOOP_NONE);
			assert_int_equal(nest->loops[loop].depth, 0);
		} else {
			uint32_t parent = nest->loop_of[o->header[o->around[i]]];

			assert_int_equal(nest->loops[loop].parent, parent);
			assert_true(parent < loop);
			assert_int_equal(nest->loops[loop].depth, nest->loops[parent].depth + 1);
		}
		for (uint32_t n = 0; n < o->num; n++)
			assert_int_equal(loop_nest_contains(nest, loop, n), o->member[i][n]);
		assert_int_equal(nest->loops[loop].is_irreducible,
				 is_entered_beside_header(o, i, 0));
	}
}

static void test_random_graphs(void **state)
{
	unsigned int num_irreducible = 0, num_deep = 0;

	(void)state;
	for (seed = 1; num_irreducible < 2000 || num_deep < 2000;) {
		struct oracle o = {.num = 2 + random_below(MAX_NODES - 2)};
		uint32_t num_edges = random_below(o.num * 3);
		struct graph *graph = graph_create(arena, o.num);
		bool all[MAX_NODES];

		memset(o.preorder, 0xff, sizeof(o.preorder));
		for (uint32_t i = 0; i < num_edges; i++) {
			uint32_t from = random_below(o.num), to = random_below(o.num);

			o.edge[from][to] = true;
			graph_add_edge(graph, from, to);
		}
		for (uint32_t n = 0; n < o.num; n++) {
			all[n] = true;
			if (o.preorder[n] == UINT32_MAX)
				number_nodes(&o, graph, n);
		}
		find_loops(&o, all, LOOP_NONE);
		struct loop_nest *nest = loop_nest_create(arena, graph, 0);

		check_against_oracle(&o, nest);
		for (size_t l = 0; l < nest->num_loops; l++) {
			num_irreducible += nest->loops[l].is_irreducible;
			num_deep += nest->loops[l].depth >= 2;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_graphs),
		cmocka_unit_test(test_contains_and_common),
		cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_random_graphs),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
