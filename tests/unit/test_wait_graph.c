/* SPDX-License-Identifier: BSD-3-Clause
 * AND/OR graphs: who is released, and who waits for whom in a circle. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "analysis/waits/wait_graph.h"
#include "model/arena.h"

enum { NODES = 6 };

/* A letter for each node, with the digits of those it leads to: F free, A all, O any; a and o of
 * one that polls. */
static struct wait_graph *make_graph(struct arena *arena, const char *text)
{
	struct wait_graph *graph = wait_graph_create(arena, NODES);
	static const char letters[] = "FAOao";

	while (*text) {
		enum wait_mode mode = (enum wait_mode)(strchr(letters, *text++) - letters);

		for (; *text >= '0' && *text <= '9'; text++)
			wait_graph_add_edge(graph, (uint32_t)(*text - '0'));
		wait_graph_end_node(graph, mode);
		text += *text == ' ';
	}
	return graph;
}

static void test_release(void **state)
{
	static const struct {
		const char *graph;
		bool polls_on, holds_last;
		const char *released;
	} table[] = {
		{"F A0 A1", false, false, "012"},  {"F A02 A1", false, false, "0"},
		{"F O02 A1", false, false, "012"}, {"O", false, false, ""},
		{"A1 A0 F", false, false, "2"},    {"a1 a0", false, false, "01"},
		{"a1 a0", true, false, ""},        {"o12 A0 F", true, false, "012"},
		{"o12 A0 F", true, true, ""},      {"A11 F", false, false, "01"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct arena *arena = arena_create();
		struct wait_graph *graph = make_graph(arena, table[i].graph);
		bool is_held[NODES] = {false}, *is_released;
		char text[32] = "";

		is_held[graph->num_nodes - 1] = table[i].holds_last;
		is_released =
			wait_graph_release(graph, table[i].polls_on, is_held, graph->num_nodes);
		for (size_t n = 0; n < graph->num_nodes; n++)
			if (is_released[n])
				strcat(text, (char[]){(char)(48 + n), 0});
		print_message("case %zu\n", i);
		assert_string_equal(text, table[i].released);
		arena_destroy(arena);
	}
}

/* Knots and, of each node, to which it belongs or leads. */
static void test_knots(void **state)
{
	static const struct {
		const char *graph;
		bool polls_only;
		const char *knots, *of;
	} table[] = {
		{"O O O O O O", false, "", "------"},
		{"A1 A2 A0 O O O", false, "012", "000---"},
		{"A1 A2 A1 O O O", false, "12", "000---"},
		{"A1 A02 A3 A24 A5 O", false, "", "------"},
		{"A1 A2 A3 A4 A5 A0", false, "012345", "000000"},
		{"A2 A3 A04 A1 A5 A4", false, "45 13", "010100"},
		{"A0 A1 A01 O O O", false, "0 1", "010---"},
		/* What is free is in none. */
		{"A1 A2 F0 A4 A3 O", false, "34", "---00-"},
		{"A1 A0 a3 A2 A02 A0", true, "23", "--000-"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct arena *arena = arena_create();
		struct wait_graph *graph = make_graph(arena, table[i].graph);
		struct wait_knots *knots =
			wait_graph_find_knots(graph, NULL, table[i].polls_only, graph->arena);
		char text[32] = "", of[NODES + 1] = "";

		for (size_t k = 0; k < knots->num_knots; k++) {
			strcat(text, k ? " " : "");
			for (uint32_t n = 0; n < NODES; n++)
				for (size_t m = 0; m < knots->knots[k].num_nodes; m++)
					if (knots->knots[k].nodes[m] == n)
						sprintf(text + strlen(text), "%d", (int)n);
		}
		for (size_t n = 0; n < NODES; n++)
			of[n] = knots->knot_of[n] == UINT32_MAX ? '-'
								: (char)('0' + knots->knot_of[n]);
		print_message("case %zu\n", i);
		assert_string_equal(text, table[i].knots);
		assert_string_equal(of, table[i].of);
		arena_destroy(arena);
	}
}

/* Not by the edge from 0 to 1. */
static bool is_other(const void *context, uint32_t start, const struct wait_way *last,
		     const struct wait_way *next)
{
	(void)context, (void)start, (void)last;
	return next->from != 0 || next->to != 1;
}

static void test_circles(void **state)
{
	static const struct {
		const char *graph, *starts, *any, *other;
	} table[] = {
		{"A1 A0", "0", "01", ""},
		{"A1 A2 A0", "12", "120", ""},
		{"A13 A2 A0 A4 A0", "0", "012", "034"},
		/* The shortest of several starts, the first of several such. */
		{"A1 A2 A03 A2", "03", "32", "32"},
		{"A1 A2 A03 A2", "2", "23", "23"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		for (int restricted = 0; restricted < 2; restricted++) {
			struct arena *arena = arena_create();
			struct wait_graph *graph = make_graph(arena, table[i].graph);
			struct wait_knots *knots =
				wait_graph_find_knots(graph, NULL, false, graph->arena);
			uint32_t starts[NODES];
			size_t num = strlen(table[i].starts), length;
			char text[32] = "";
			struct wait_way *way;

			for (size_t k = 0; k < num; k++)
				starts[k] = (uint32_t)(table[i].starts[k] - '0');
			length = wait_knots_circle(knots, starts, num, restricted ? is_other : NULL,
						   NULL, &way);
			for (size_t k = 0; k < length; k++) {
				sprintf(text + strlen(text), "%d", (int)way[k].from);
				assert_int_equal(graph->to[way[k].edge], way[k].to);
				assert_int_equal(way[k].to, way[(k + 1) % length].from);
			}
			print_message("case %zu\n", i);
			assert_string_equal(text, restricted ? table[i].other : table[i].any);
			arena_destroy(arena);
		}
	}
}

/* Recursion would not get that far. */
static void test_long_circle(void **state)
{
	const uint32_t num = 500000;
	struct arena *arena = arena_create();
	struct wait_graph *graph = wait_graph_create(arena, num);
	struct wait_knots *knots;

	(void)state;
	for (uint32_t i = 0; i < num; i++) {
		wait_graph_add_edge(graph, (i + 1) % num);
		wait_graph_end_node(graph, WAIT_ALL);
	}
	knots = wait_graph_find_knots(graph, wait_graph_release(graph, true, NULL, 0), false,
				      graph->arena);
	assert_int_equal(knots->num_knots, 1);
	assert_int_equal(knots->knots[0].num_nodes, num);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_knots),
		cmocka_unit_test(test_circles),
		cmocka_unit_test(test_long_circle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
