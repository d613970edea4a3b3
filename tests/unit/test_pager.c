/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "shell/pager.h"
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
		{"\033[1m0123456789\033[0m\nx", 10, 1, "x"},
		{"\033[1;31m0123456789a\033[0m\nx", 10, 2, "x"},
		{"\342\224\202\342\224\202\342\224\202", 3, 1, ""},
		{"\342\224\202\342\224\202\342\224\202", 2, 2, ""},
		{"\tab\n", 10, 1, ""},
		{"\tabc\n", 10, 2, ""},
		{"\033[", 10, 1, ""},
		{"\033[1\nx", 10, 1, "x"},
		{"a terminal that tells no width", 0, 1, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *next;

		assert_int_equal(pager_rows(cases[i].text, cases[i].columns, &next), cases[i].rows);
		assert_string_equal(next, cases[i].rest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
