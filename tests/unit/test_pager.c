/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/text/gate.h"
#include "shell/line/pager.h"
#include "tests/unit/unit.h"

static void rows(void **state)
{
	static const struct {
		const char *text;
		size_t columns, rows;
		const char *rest;
	} cases[] = {
		{"", 10, 1, ""},
		{"\n", 10, 1, ""},
		{"abc\ndef", 10, 1, "def"},
		{"0123456789\nx", 10, 1, "x"},
		{"0123456789a\nx", 10, 2, "x"},
		{"01234567890123456789a", 10, 3, ""},
		{"\033[1m", 4, 1, ""},
		{"\342\224\202\342\224\202\342\224\202", 3, 1, ""},
		{"\342\224\202\342\224\202\342\224\202", 2, 2, ""},
		{"\tab\n", 10, 1, ""},
		{"\tabc\n", 10, 2, ""},
		{"a terminal that tells no width", 0, 1, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *next;

		const char *end = cases[i].text + strlen(cases[i].text);

		assert_int_equal(pager_rows(cases[i].text, end, cases[i].columns, &next),
				 cases[i].rows);
		assert_string_equal(next, cases[i].rest);
	}
}

/* Colours take no room. */
static void colors(void **state)
{
	for (int more = 0; more < 2; more++) {
		char *text = NULL;
		const char *next;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		(void)state;
		gate_color(out, "1;31");
		fprintf(out, "0123456789%s", more ? "a" : "");
		gate_color(out, "0");
		fputs("\nx", out);
		fclose(out);
		assert_int_equal(pager_rows(text, text + size, 10, &next), 1 + more);
		assert_string_equal(next, "x");
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(colors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
