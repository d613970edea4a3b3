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

static void a_name_is_found(void **state)
{
	static const char *const names[] = {"full", "first", NULL, "last", "lastly"};
	static const struct {
		const char *word;
		int found;
		const char *said;
	} cases[] = {
		{"full", 0, NULL},
		{"fu", 0, NULL},
		{"last", 3, NULL}, /* itself, though another begins with it */
		{"lastl", 4, NULL},
		{"f", -1, "option \"-f\" is ambiguous: -full, -first"},
		{"la", -1, "option \"-la\" is ambiguous: -last, -lastly"},
		{"fuller", -1, "no option \"-fuller\"; did you mean \"-full\"?"},
		{"x", -1, "option \"-x\" is not one of: -full, -first, -last, -lastly"},
		{"", -1, "option \"-\" is not one of"},
	};
	struct pdb_error err;

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		assert_int_equal(suggest_find("option", "-", cases[i].word, strlen(cases[i].word),
					      names, NUM_OF(names), &err),
				 cases[i].found);
		if (cases[i].said)
			assert_error(&err, ERROR_USAGE, cases[i].said);
	}
	assert_int_equal(suggest_find("option", "-", "first=1", 5, names, NUM_OF(names), &err), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(nearest),
		cmocka_unit_test(a_name_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
