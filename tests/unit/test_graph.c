/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena_of_tests.h"
#include "unit.h"

#include "analysis/graph.h"

static void test_empty(void **state)
{
	struct graph *graph = graph_create(arena, 0);

	(void)state;
	assert_int_equal(graph_num_nodes(graph), 0);
}

static void test_successors_keep_order(void **state)
{
	static const uint32_t expected[] = {3, 0, 2, 1};
	struct graph *graph = graph_create(arena, 4);
	size_t num;

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 4; i++)
			graph_add_edge(graph, 2, expected[i]);
	const uint32_t *successors = graph_successors(graph, 2, &num);

	assert_int_equal(num, 4);
	assert_memory_equal(successors, expected, sizeof(expected));
	graph_successors(graph, 1, &num);
	assert_int_equal(num, 0);
}

/* A hub with 60,000 successors, each added three times. */
static void test_large_degree(void **state)
{
	const uint32_t degree = 60000;
	struct graph *graph = graph_create(arena, degree + 1);
	size_t num;

	(void)state;
	for (int round = 0; round < 3; round++)
		for (uint32_t i = degree; i > 0; i--)
			graph_add_edge(graph, 0, i);
	const uint32_t *successors = graph_successors(graph, 0, &num);

	assert_int_equal(num, degree);
	for (uint32_t i = 0; i < degree; i++)
		assert_int_equal(successors[i], degree - i);
}

/* Edges as pairs of digits; components as their members, in the order of their numbers. */
static void test_components(void **state)
{
	static const struct {
		const char *edges, *components;
	} table[] = {
		{"", "0 1 2 3 4 5"},
		{"01 12 20", "012 3 4 5"},
		{"01 12 21", "12 0 3 4 5"},
		{"01 10 12 23 32 34 45", "5 4 23 01"},
		{"01 12 23 34 45 50", "012345"},
		{"02 20 13 31 24 35 54", "4 02 5 13"},
		{"01 02 13 23 31", "13 2 0 4 5"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct graph *graph = graph_create(arena, 6);
		uint32_t component_of[6], num;
		char text[32] = "";

		for (const char *edge = table[i].edges; *edge; edge += edge[2] ? 3 : 2)
			graph_add_edge(graph, (uint32_t)(edge[0] - '0'), (uint32_t)(edge[1] - '0'));
		num = graph_components(graph, component_of);
		for (uint32_t c = 0; c < num; c++) {
			if (c)
				strcat(text, " ");
			for (int n = 0; n < 6; n++)
				if (component_of[n] == c)
					sprintf(text + strlen(text), "%d", n);
		}
		assert_string_equal(text, table[i].components);
	}
}

/* Recursion would not get that far. */
static void test_long_circle(void **state)
{
	const uint32_t num = 500000;
	struct graph *graph = graph_create(arena, num);
	uint32_t *component_of = calloc(num, sizeof(*component_of));

	(void)state;
	for (uint32_t i = 0; i < num; i++)
		graph_add_edge(graph, i, (i + 1) % num);
	assert_int_equal(graph_components(graph, component_of), 1);
	free(component_of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),        cmocka_unit_test(test_successors_keep_order),
		cmocka_unit_test(test_large_degree), cmocka_unit_test(test_components),
		cmocka_unit_test(test_long_circle),
	};

	return cmocka_run_group_tests(tests, arena_begin, arena_end);
}
