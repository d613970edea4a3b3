/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "shell/options/suggest.h"
#include "tests/unit/unit.h"

static void distances(void **state)
{
	static const struct {
		const char *typed, *name;
		size_t distance;
	} cases[] = {
		{"", "", 0},
		{"", "lp", 2},
		{"lp", "", 2},
		{"lp", "lp", 0},
		{"LP", "lp", 0},
		{"lpx", "lp", 1},
		{"hlep", "help", 1},
		{"gruops", "groups", 1},
		{"grups", "groups", 1},
		{"wiats", "waits", 1},
		{"colectivs", "collectives", 2},
		{"ca", "abc", 3},
		{"kitten", "sitting", 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(suggest_distance(cases[i].typed, cases[i].name),
				 cases[i].distance);
		assert_int_equal(suggest_distance(cases[i].name, cases[i].typed),
				 cases[i].distance);
	}
}

static void nearest(void **state)
{
	static const char *const names[] = {"collectives", "graph", NULL, "groups", "help", "lp"};
	static const struct {
		const char *typed, *name;
	} cases[] = {
		{"hlep", "help"},
		{"grahp", "graph"},
		{"grops", "groups"},
		{"pl", "lp"},
		{"x", NULL},
		{"", NULL},
		{"frobnicate", NULL},
		{"colectivs", "collectives"},
		{"ab", NULL},
		{"l", "lp"},
		{"\377\376", NULL},
		{"a word that is longer than any name that there may be", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *name =
			suggest_nearest(cases[i].typed, names, sizeof(names) / sizeof(names[0]));

		if (!cases[i].name)
			assert_null(name);
		else if (!name || strcmp(name, cases[i].name) != 0)
			fail_msg("%s: %s", cases[i].typed, name ? name : "nothing");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
