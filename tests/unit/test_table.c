/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/draw/table.h"
#include "render/text/gate.h"
#include "render/text/text.h"
#include "render/view.h"
#include "tests/unit/unit.h"
#include "tests/unit/with_arena.h"

static const struct table_column columns[] = {
	{.name = "ranks", .header = "ranks", .flags = TABLE_YIELDS, .min_width = 12},
	{.name = "where", .header = "where", .flags = TABLE_CUT_MIDDLE, .min_width = 10},
	{.name = "count", .header = "count", .align = TABLE_RIGHT},
};

static struct view view;

static struct table *table_of_view(void)
{
	view.arena = arena;
	return TABLE_OF(&view, columns);
}

static struct table *make_table(void)
{
	static const struct {
		int first, last;
		const char *where;
		int count;
	} rows[] = {
		{0, 98, "in MPI_Allgather, exchange() solver.c:141", 412},
		{99, 99, "computing", 9},
	};
	struct table *table = table_of_view();

	for (size_t r = 0; r < NUM_OF(rows); r++) {
		struct rankset *set = rankset_in(arena, rankset_create());

		rankset_add_range(set, rows[r].first, rows[r].last);
		table_row(table);
		table_ranks(table, set);
		table_cell(table, "%s", rows[r].where);
		table_cell(table, "%d", rows[r].count);
	}
	return table;
}

static char *print(const struct table *table, int width, bool use_unicode, bool use_color)
{
	char *text = NULL;
	size_t length;
	FILE *below = open_memstream(&text, &length);

	view.width = width;
	view.use_unicode = use_unicode;
	view.use_color = use_color;
	view.out = gate_open(below);
	table_print(table);
	fclose(view.out);
	fclose(below);
	return text;
}

static void check(const struct table *table, int width, bool use_unicode, const char *expected)
{
	char *text = print(table, width, use_unicode, false);

	assert_string_equal(text, expected);
	free(text);
}

static void test_fits(void **state)
{
	struct table *table = make_table();

	(void)state;
	check(table, 80, false,
	      "  ranks      where                                      count\n"
	      "  99:[0-98]  in MPI_Allgather, exchange() solver.c:141    412\n"
	      "   1:[99]    computing                                      9\n");
}

static void test_cut(void **state)
{
	struct table *table = make_table();

	(void)state;
	check(table, 44, false,
	      "  ranks      where                     count\n"
	      "  99:[0-98]  in MPI_All...olver.c:141    412\n"
	      "   1:[99]    computing                     9\n");
}

/* Numbers are never cut: headers take two lines, then columns are left out. */
static void test_numbers(void **state)
{
	static const struct table_column numbers[] = {
		{.name = "rank", .header = "rank", .align = TABLE_RIGHT},
		{.name = "state", .header = "state", .min_width = 8},
		{.name = "paths",
		 .header = "call paths",
		 .align = TABLE_RIGHT,
		 .flags = TABLE_SPARE},
		{.name = "moves", .header = "transitions", .align = TABLE_RIGHT},
		{.name = "lost", .header = "entries lost", .align = TABLE_RIGHT},
		{.name = "jumps", .header = "left by jump", .align = TABLE_RIGHT},
	};
	static const struct {
		int width;
		const char *text;
	} cases[] = {
		{79,
		 "  rank  state             call paths   transitions  entries lost  left by jump\n"
		 "     0  called MPI_Abort          63  123456789012             0             0\n"
		 "    10  running                   63          5381             0             "
		 "0\n"},
		{76, "                           call                entries     left\n"
		     "  rank  state             paths   transitions     lost  by jump\n"
		     "     0  called MPI_Abort     63  123456789012        0        0\n"
		     "    10  running              63          5381        0        0\n"},
		{58, "                      call                entries     left\n"
		     "  rank  state        paths   transitions     lost  by jump\n"
		     "     0  called M...     63  123456789012        0        0\n"
		     "    10  running         63          5381        0        0\n"},
		{54, "                                      entries     left\n"
		     "  rank  state            transitions     lost  by jump\n"
		     "     0  called MPI_...  123456789012        0        0\n"
		     "    10  running                 5381        0        0\n"
		     "  no room for: call paths\n"},
		{40, "                                 entries\n"
		     "  rank  state       transitions     lost\n"
		     "     0  called...  123456789012        0\n"
		     "    10  running            5381        0\n"
		     "  no room for: call paths, left by jump\n"},
	};
	struct table *table;

	(void)state;
	view.arena = arena;
	table = TABLE_OF(&view, numbers);
	for (int r = 0; r < 2; r++) {
		table_row(table);
		table_cell(table, "%d", r * 10);
		table_text(table, r ? "running" : "called MPI_Abort");
		table_cell(table, "%d", 63);
		table_text(table, r ? "5381" : "123456789012");
		table_cell(table, "%d", 0);
		table_cell(table, "%d", 0);
	}
	for (size_t i = 0; i < NUM_OF(cases); i++)
		check(table, cases[i].width, false, cases[i].text);
}

static void test_marks(void **state)
{
	struct table *table = make_table();

	(void)state;
	table_mark(table, "<- least progressed");
	check(table, 90, false,
	      "  ranks      where                                      count\n"
	      "  99:[0-98]  in MPI_Allgather, exchange() solver.c:141    412\n"
	      "   1:[99]    computing                                      9  <- least "
	      "progressed\n");
	check(table, 64, false,
	      "  ranks      where                                      count\n"
	      "  99:[0-98]  in MPI_Allgather, exchange() solver.c:141    412\n"
	      "   1:[99]    computing                                      9 <-\n"
	      "  <- least progressed\n");
}

static void test_hidden(void **state)
{
	struct table *table = make_table();

	(void)state;
	table_hide(table, "where");
	table_hide(table, "no such column");
	check(table, 80, false,
	      "  ranks      count\n"
	      "  99:[0-98]    412\n"
	      "   1:[99]        9\n");
}

/* Rows may have fewer cells than columns; what is given beyond them is dropped. */
static void test_odd_rows(void **state)
{
	struct table *table = table_of_view();

	(void)state;
	check(table, 80, false, "");
	table_cell(table, "before any row");
	table_mark(table, "before any row");
	check(table, 80, false, "");
	table_row(table);
	table_row(table);
	table_ranks(table, NULL);
	table_cell(table, "x");
	table_cell(table, "1");
	table_cell(table, "one too many");
	assert_int_equal(table_num_rows(table), 2);
	check(table, 80, false,
	      "  ranks  where  count\n"
	      "\n"
	      "         x          1\n");
}

static void test_color(void **state)
{
	struct table *table = make_table();
	char *text;

	(void)state;
	text = print(table, 80, false, false);
	assert_null(strchr(text, '\033'));
	free(text);
	table_mark(table, "");
	text = print(table, 80, false, true);
	assert_non_null(strstr(text, "\033[1;31m   1:[99]"));
	free(text);
}

/* No line is ever wider than asked for, whatever is in it, and no byte of a name gets through that
 * a terminal would obey. */
static void test_widths(void **state)
{
	(void)state;
	srand(2);
	for (int round = 0; round < 60; round++) {
		struct table *table = table_of_view();

		for (int r = rand() % 12 + 1; r > 0; r--) {
			struct rankset *set = rankset_in(arena, rankset_create());

			for (int n = rand() % 40 + 1; n > 0; n--)
				rankset_add(set, rand() % 100000);
			table_row(table);
			table_ranks(table, set);
			table_cell(table, "%*s\033\u00fc", rand() % 120, "end");
			table_cell(table, "%d", rand());
			if (rand() % 4 == 0)
				table_mark(table, "<- least progressed");
		}
		for (int width = 40; width < 130; width += 7) {
			char *text = print(table, width, round % 2, false), *rest = text, *line;

			assert_null(strchr(text, '\033'));
			while ((line = strsep(&rest, "\n")))
				assert_in_range(text_columns(line), 0, width);
			free(text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fits),    cmocka_unit_test(test_cut),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_marks),
		cmocka_unit_test(test_hidden),  cmocka_unit_test(test_odd_rows),
		cmocka_unit_test(test_color),   cmocka_unit_test(test_widths),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
