/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/draw/dot.h"
#include "tests/unit/unit.h"
#include "tests/unit/with_arena.h"

static char *write_dot(const struct dot *dot)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	dot_write(dot, out);
	fclose(out);
	return text;
}

static int count(const char *text, const char *part)
{
	int number = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		number++;
	return number;
}

/* Does Graphviz's own program take it? */
static void assert_valid(const char *text)
{
	FILE *dot = popen("dot -Tsvg >/dev/null", "w");

	assert_non_null(dot);
	fputs(text, dot);
	assert_int_equal(pclose(dot), 0);
}

static void test_quote(void **state)
{
	static const char *const cases[][2] = {
		{"main", "\"main\""},
		{"", "\"\""},
		{"a \"b\"", "\"a \\\"b\\\"\""},
		{"back\\slash", "\"back\\\\slash\""},
		{"two\nlines", "\"two\\nlines\""},
		{"ends\\", "\"ends\\\\\""},
		{"]; evil -> x [", "\"]; evil -> x [\""},
		{"<b>&amp;", "\"<b>&amp;\""},
		{"\033[0m\t", "\"?[0m?\""},
		{"\xff", "\"?\""},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		dot_quote(out, cases[i][0]);
		fclose(out);
		assert_string_equal(text, cases[i][1]);
		free(text);
	}
}

static void test_small(void **state)
{
	struct dot *dot = dot_create(arena, "a \"title\"", "groups");
	uint32_t a = dot_node(dot, "4:[0-3]\nMPI_Send", 4, DOT_PLAIN);
	uint32_t b = dot_node(dot, "1:[4]", 1, DOT_STRONG);
	char *text;

	(void)state;
	dot_edge(dot, a, b, "loop run()");
	dot_edge(dot, b, a, NULL);
	text = write_dot(dot);
	assert_string_equal(
		text,
		"digraph pdb {\n"
		"\tgraph [labelloc=t, fontname=\"sans-serif\", label=\"a \\\"title\\\"\"];\n"
		"\tnode [shape=box, fontname=\"sans-serif\", fontsize=11];\n"
		"\tedge [fontname=\"sans-serif\", fontsize=10];\n"
		"\tn0 [label=\"4:[0-3]\\nMPI_Send\"];\n"
		"\tn1 [label=\"1:[4]\", color=\"#c00000\", fontcolor=\"#c00000\", penwidth=2];\n"
		"\tn0 -> n1 [label=\"loop run()\"];\n"
		"\tn1 -> n0;\n"
		"}\n");
	assert_valid(text);
	free(text);
}

/* A ring of n nodes with a heavy last one. */
static struct dot *ring(uint32_t number)
{
	struct dot *dot = dot_create(arena, "ring", "groups");

	for (uint32_t n = 0; n < number; n++) {
		dot_node(dot, "x", n == number - 1 ? 2 : 1, DOT_PLAIN);
		dot_edge(dot, n, (n + 1) % number, NULL);
		dot_edge(dot, n, (n + 2) % number, NULL);
	}
	return dot;
}

static void test_folding(void **state)
{
	struct dot *dot = ring(DOT_MAX_NODES);
	char *text = write_dot(dot);

	(void)state;
	assert_int_equal(count(text, "folded"), 0);
	assert_int_equal(count(text, "[label=\"x\"]"), DOT_MAX_NODES);
	free(text);

	dot = ring(1000);
	text = write_dot(dot);
	assert_int_equal(count(text, "[label=\"x\"]"), DOT_MAX_NODES);
	assert_non_null(strstr(text, "label=\"700 more groups, not drawn\""));
	/* The heaviest is kept though it is the last. */
	assert_non_null(strstr(text, "\tn999 [label"));
	assert_null(strstr(text, "\tn299 [label"));
	/* Two edges of the ring lead from 298 to what is folded, but are drawn as one. */
	assert_int_equal(count(text, "\tn298 -> folded [style=dashed];\n"), 1);
	assert_int_equal(count(text, "\tfolded -> n999 [style=dashed];\n"), 1);
	assert_int_equal(count(text, "folded -> folded"), 0);
	assert_valid(text);
	free(text);
}

static void test_many_edges(void **state)
{
	struct dot *dot = dot_create(arena, "dense", "groups");
	char *text;

	(void)state;
	for (uint32_t n = 0; n < 80; n++) {
		dot_node(dot, "x", 1, DOT_PLAIN);
		for (uint32_t to = 40; n < 40 && to < 80; to++)
			dot_edge(dot, n, to, NULL);
	}
	text = write_dot(dot);
	assert_int_equal(count(text, " -> "), DOT_MAX_EDGES);
	assert_non_null(strstr(text, "label=\"600 more arrows, not drawn\""));
	assert_valid(text);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_many_edges),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
