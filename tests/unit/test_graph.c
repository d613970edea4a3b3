/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/with_arena.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_successors_keep_order),
		cmocka_unit_test(test_large_degree),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
