/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/text/gate.h"
#include "render/text/text.h"
#include "render/view.h"
#include "tests/unit/unit.h"
#include "tests/unit/with_arena.h"

static void test_columns(void **state)
{
	static const struct {
		const char *text;
		size_t columns;
	} cases[] = {
		{"", 0},         {"abc", 3},       {"f\u00fcr", 3}, {"\u2502", 1},
		{"\xff\xfe", 2}, {"a\033[31m", 6}, {"\xe2\x94", 2},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		assert_int_equal(text_columns(cases[i].text), cases[i].columns);
}

static void test_clean(void **state)
{
	static const struct {
		const char *text, *ascii, *unicode;
	} cases[] = {
		{"halo()", "halo()", "halo()"},
		{"f\u00fcr", "f?r", "f\u00fcr"},
		{"\033]0;owned\007x\n\ty", "?]0;owned?x??y", "?]0;owned?x??y"},
		{"\xc2\x9b"
		 "2J",
		 "?2J", "?2J"}, /* a C1 control in UTF-8 */
		/* turns the direction, has no width */
		{"a\u202eb\u200bc\ufeff", "a?b?c?", "a?b?c?"},
		{"\xc0\xaf\xff\xe2\x94", "?????", "?????"},
		{"\x7f", "?", "?"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const char *ascii = text_clean(arena, cases[i].text, false);
		const char *unicode = text_clean(arena, cases[i].text, true);

		assert_string_equal(ascii, cases[i].ascii);
		assert_string_equal(unicode, cases[i].unicode);
	}
}

static void test_fit(void **state)
{
	static const struct {
		const char *text;
		size_t width;
		bool use_unicode;
		const char *fit;
	} cases[] = {
		{"compute_forces", 14, false, "compute_forces"},
		{"compute_forces", 13, false, "compute_fo..."},
		{"compute_forces", 13, true, "compute_forc\u2026"},
		{"compute_forces", 4, false, "c..."},
		{"compute_forces", 3, false, "com"},
		{"compute_forces", 1, true, "c"},
		{"compute_forces", 0, true, ""},
		{"\u00e4\u00f6\u00fc\u00df", 3, true, "\u00e4\u00f6\u2026"},
		{"", 0, false, ""},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const char *fit =
			text_fit(arena, cases[i].text, cases[i].width, cases[i].use_unicode);

		assert_string_equal(fit, cases[i].fit);
	}
}

static void test_fit_middle(void **state)
{
	static const struct {
		const char *text;
		size_t width;
		bool use_unicode;
		const char *fit;
	} cases[] = {
		{"in MPI_Send, halo() solver.c:141", 32, false, "in MPI_Send, halo() solver.c:141"},
		{"in MPI_Send, halo() solver.c:141", 25, false, "in MPI_Send...olver.c:141"},
		{"in MPI_Send, halo() solver.c:141", 25, true, "in MPI_Send,\u2026solver.c:141"},
		{"in MPI_Send, halo() solver.c:141", 14, false, "in MPI_Send..."},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const char *fit =
			text_fit_middle(arena, cases[i].text, cases[i].width, cases[i].use_unicode);

		assert_string_equal(fit, cases[i].fit);
	}
}

static void test_wrap(void **state)
{
	static const struct {
		int indent;
		const char *text, *printed;
	} cases[] = {
		{0, "short", "short\n"},
		{2, "rank 100 is in compute_forces() at force.c:88",
		 "  rank 100 is in compute_forces() at\n    force.c:88\n"},
		/* A number and its unit stay together. */
		{0, "rank 100 is in compute_forces() for 72 s",
		 "rank 100 is in compute_forces() for 72 s\n"},
		{0, "rank 1000 is in compute_forces() for 72 s",
		 "rank 1000 is in compute_forces() for\n  72 s\n"},
		/* Words longer than a line are broken. */
		{0, "0123456789012345678901234567890123456789abc",
		 "0123456789012345678901234567890123456789\n  abc\n"},
		{0, "one\ntwo", "one\ntwo\n"},
		{0, "\033[2J", "?[2J\n"},
		/* An indent that leaves no room is not kept. */
		{60, "deep", "                            deep\n"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct view view = {.width = 40, .arena = arena};
		char *text;
		size_t length;

		view.out = open_memstream(&text, &length);
		text_wrap(&view, cases[i].indent, "%s", cases[i].text);
		fclose(view.out);
		assert_string_equal(text, cases[i].printed);
		free(text);
	}
}

static void test_wrap_behind(void **state)
{
	static const char *const cases[][2] = {
		{"short", "pdb: short\n"},
		{"the launcher has no table of processes; the job has not started",
		 "pdb: the launcher has no table of\n     processes; the job has not started\n"},
		{"one\ntwo", "pdb: one\n     two\n"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct view view = {.width = 40, .arena = arena};
		char *text;
		size_t length;

		view.out = open_memstream(&text, &length);
		text_wrap_behind(&view, "pdb: ", cases[i][0]);
		fclose(view.out);
		assert_string_equal(text, cases[i][1]);
		free(text);
	}
}

static void test_color(void **state)
{
	(void)state;
	for (int use_color = 0; use_color < 2; use_color++) {
		char *text = NULL;
		size_t size;
		FILE *below = open_memstream(&text, &size);
		const struct view view = {.out = gate_open(below), .use_color = use_color};

		text_color(&view, TEXT_CULPRIT);
		fclose(view.out);
		fclose(below);
		assert_string_equal(text, use_color ? "\033[1;31m" : "");
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),     cmocka_unit_test(test_clean),
		cmocka_unit_test(test_fit),         cmocka_unit_test(test_fit_middle),
		cmocka_unit_test(test_wrap_behind), cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_color),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
