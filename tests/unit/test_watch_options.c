/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "shell/options/args.h"
#include "shell/options/options.h"
#include "tests/unit/unit.h"

static int take(const char *text, struct watch_options *ret, struct args **args,
		struct pdb_error *err)
{
	assert_int_equal(args_parse(text, args, err), 0);
	*ret = (struct watch_options){.save = NULL};
	option_init(&watch_option_table, ret);
	return option_take_all(&watch_option_table, 1u << ACTION_WATCH, *args, ret, NULL, err);
}

static void test_good(void **state)
{
	static const struct {
		const char *text;
		double alpha, max_wait_s;
		bool kills, json;
		const char *on_hang, *save, *report;
	} cases[] = {
		{"", 0.001, 300, false, false, NULL, NULL, NULL},
		{"--alpha 0.01", 0.01, 300, false, false, NULL, NULL, NULL},
		{"--alpha=1e-6 --kill", 1e-6, 300, true, false, NULL, NULL, NULL},
		{"--max-wait 90", 0.001, 90, false, false, NULL, NULL, NULL},
		{"--max-wait 90s", 0.001, 90, false, false, NULL, NULL, NULL},
		{"--max 1.5h", 0.001, 5400, false, false, NULL, NULL, NULL},
		{"--max-wait=2min --json", 0.001, 120, false, true, NULL, NULL, NULL},
		{"--on-hang 'mail -s x me' --save a.pdb", 0.001, 300, false, false, "mail -s x me",
		 "a.pdb", NULL},
		{"--report r.txt --k", 0.001, 300, true, false, NULL, NULL, "r.txt"},
		{"--report hang.html", 0.001, 300, false, false, NULL, NULL, "hang.html"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct watch_options options;
		struct pdb_error err;
		struct args *args;

		if (take(cases[i].text, &options, &args, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_true(options.alpha == cases[i].alpha);
		assert_true(options.max_wait_s == cases[i].max_wait_s);
		assert_true(options.on_hang_s == 60);
		assert_int_equal(options.wants_kill, cases[i].kills);
		assert_int_equal(options.wants_json, cases[i].json);
		assert_string_equal(options.on_hang ? options.on_hang : "-",
				    cases[i].on_hang ? cases[i].on_hang : "-");
		assert_string_equal(options.save ? options.save : "-",
				    cases[i].save ? cases[i].save : "-");
		assert_string_equal(options.report ? options.report : "-",
				    cases[i].report ? cases[i].report : "-");
		args_destroy(args);
	}
}

static void test_time_of_command(void **state)
{
	struct watch_options options;
	struct pdb_error err;
	struct args *args;

	(void)state;
	assert_int_equal(take("--on-hang-time 5min --on-hang gcore", &options, &args, &err), 0);
	assert_true(options.on_hang_s == 300);
	assert_string_equal(options.on_hang, "gcore");
	args_destroy(args);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"fast", "no option"},
		{"--fast", "option \"--fast\" is not one of"},
		{"--", "is not one of"},
		{"--alpha", "takes RATE"},
		{"--alpha 0", "1e-12 to 0.5"},
		{"--alpha nan", "1e-12 to 0.5"},
		{"--alpha 1", "1e-12 to 0.5"},
		{"--alpha 0.1x", "1e-12 to 0.5"},
		{"--max-wait 0", "a second or more"},
		{"--max-wait 5d", "a second or more"},
		{"--max-wait inf", "a second or more"},
		{"--on-hang-time 0.5", "--on-hang-time is a time"},
		{"--on-hang-t never", "--on-hang-time is a time"},
		{"--kill=yes", "takes no value"},
		{"--save", "takes FILE"},
		{"--save ''", "name of a file"},
		{"--json 1", "no option"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct watch_options options;
		struct pdb_error err;
		struct args *args;

		assert_int_equal(take(cases[i].text, &options, &args, &err), -1);
		assert_error(&err, ERROR_USAGE, cases[i].why);
		args_destroy(args);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_time_of_command),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
