/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/draw/tree.h"
#include "render/text/text.h"
#include "render/view.h"
#include "tests/unit/unit.h"
#include "tests/unit/with_arena.h"

static char *print(const struct tree *tree, int width, bool use_unicode)
{
	struct view view = {.arena = arena, .width = width, .use_unicode = use_unicode};
	char *text = NULL;
	size_t length;

	view.out = open_memstream(&text, &length);
	tree_print(tree, &view);
	fclose(view.out);
	return text;
}

static void check(const struct tree *tree, int width, bool use_unicode, const char *expected)
{
	char *text = print(tree, width, use_unicode);

	assert_string_equal(text, expected);
	free(text);
}

static void test_shapes(void **state)
{
	struct tree *tree = tree_create(arena);
	uint32_t a = tree_add(tree, TREE_ROOT, "a"), b = tree_add(tree, a, "b"), c, d;

	(void)state;
	c = tree_add(tree, b, "c");
	d = tree_add(tree, b, "d");
	tree_add(tree, c, "e");
	tree_add(tree, d, "f");
	tree_add(tree, d, "g");
	tree_add(tree, TREE_ROOT, "h");
	check(tree, 40, false,
	      "a\n"
	      "b\n"
	      "|-- c\n"
	      "|   e\n"
	      "`-- d\n"
	      "    |-- f\n"
	      "    `-- g\n"
	      "h\n");
	check(tree, 40, true,
	      "a\n"
	      "b\n"
	      "\u251c\u2500\u2500 c\n"
	      "\u2502   e\n"
	      "\u2514\u2500\u2500 d\n"
	      "    \u251c\u2500\u2500 f\n"
	      "    \u2514\u2500\u2500 g\n"
	      "h\n");
}

/* An arrow is never cut off. */
static void test_arrow(void **state)
{
	struct tree *tree = tree_create(arena);
	uint32_t root = tree_add(tree, TREE_ROOT, "a"), b = tree_add(tree, root, "b");

	(void)state;
	tree_add(tree, root, "c");
	tree_point(tree, b);
	tree_point(tree, tree_add(tree, b, "a function with a name that is longer"));
	check(tree, 40, false,
	      "a\n"
	      "|-- b  <-\n"
	      "|   a function with a name that i...  <-\n"
	      "`-- c\n");
}

static void test_empty(void **state)
{
	struct tree *tree = tree_create(arena);

	(void)state;
	check(tree, 80, false, "");
}

/* Two children on each of 100 levels: what is too deep is counted. */
static void test_deep(void **state)
{
	struct tree *tree = tree_create(arena);
	uint32_t parent = TREE_ROOT;
	char *text, *rest, *line;
	int lines = 0;

	(void)state;
	for (int level = 0; level < 100; level++) {
		parent = tree_add(tree, parent, "a function with a name that is rather long");
		tree_add(tree, parent, "leaf");
	}
	text = rest = print(tree, 60, true);
	assert_non_null(strstr(text, "... 185 more below"));
	while ((line = strsep(&rest, "\n"))) {
		assert_in_range(text_columns(line), 0, 60);
		lines++;
	}
	assert_in_range(lines, 10, 30);
	free(text);
}

/* A chain of only children may be as long as it likes: no recursion, no indent. */
static void test_chain(void **state)
{
	struct tree *tree = tree_create(arena);
	uint32_t parent = TREE_ROOT;
	char *text;

	(void)state;
	for (int level = 0; level < 200000; level++)
		parent = tree_add(tree, parent, "x");
	text = print(tree, 80, false);
	assert_int_equal(strlen(text), 400000);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes), cmocka_unit_test(test_arrow),
		cmocka_unit_test(test_empty),  cmocka_unit_test(test_deep),
		cmocka_unit_test(test_chain),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
