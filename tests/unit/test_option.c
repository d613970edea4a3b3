/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "shell/options/args.h"
#include "shell/options/option.h"
#include "tests/unit/unit.h"

enum { GROUP_MORE = 1 };

struct taken {
	bool full, more;
	unsigned int depth, by, kinds, other;
};

static int take_other(void *ret, const struct option *option, const char *typed,
		      const struct args *args, size_t *next, struct pdb_error *err)
{
	struct taken *taken = ret;

	(void)typed, (void)args, (void)next, (void)err;
	taken->other = option->value;
	return 0;
}

static const char *const colours[] = {"blue", "black", "red", NULL};

#define TAKES(text, what, member)                                                                  \
	.name = text, .kind = what, .place = offsetof(struct taken, member)

static const struct option table[] = {
	{TAKES("by", OPTION_CHOICE, by), .choices = colours},
	{TAKES("depth", OPTION_NUMBER, depth), .max = 9},
	{TAKES("full", OPTION_FLAG, full)},
	{TAKES("furthest", OPTION_OTHER, other), .value = 7, .take = take_other},
	{TAKES("kinds", OPTION_SET, kinds), .choices = colours, .value = 2},
	{TAKES("more", OPTION_FLAG, more), .group = GROUP_MORE},
};

static int take(const char *text, unsigned int groups, struct taken *ret, char **rest_ret,
		struct pdb_error *err)
{
	struct args *args, rest;
	int result;

	assert_int_equal(args_parse(text, &args, err), 0);
	*ret = (struct taken){.by = 99};
	result = option_take_all(table, NUM_OF(table), groups, args, ret, &rest, err);
	*rest_ret = args_join(&rest, 0);
	free(rest.words);
	args_destroy(args);
	return result;
}

static void test_good(void **state)
{
	static const struct {
		const char *text;
		struct taken taken;
		const char *rest;
	} cases[] = {
		{"", {.by = 99}, ""},
		{"0 -full 3-5", {.full = true, .by = 99}, "0 3-5"},
		{"--full -", {.full = true, .by = 99}, "-"},
		{"-d 9 a", {.depth = 9, .by = 99}, "a"},
		{"-by r", {.by = 2}, ""},
		{"-kinds blue,red -k bla", {.by = 99, .kinds = 2 | 4 | 8}, ""},
		{"-fur -m", {.by = 99, .other = 7, .more = true}, ""},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const struct taken *expected = &cases[i].taken;
		struct pdb_error err;
		struct taken taken;
		char *rest;

		if (take(cases[i].text, GROUP_MORE, &taken, &rest, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_int_equal(taken.full, expected->full);
		assert_int_equal(taken.more, expected->more);
		assert_int_equal(taken.depth, expected->depth);
		assert_int_equal(taken.by, expected->by);
		assert_int_equal(taken.kinds, expected->kinds);
		assert_int_equal(taken.other, expected->other);
		assert_string_equal(rest, cases[i].rest);
		free(rest);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"-fu", "option \"-fu\" is ambiguous: -full, -furthest"},
		{"-fulll", "no option \"-fulll\"; did you mean \"-full\"?"},
		{"-more", "no option \"-more\"; see help"},
		{"-depth", "the depth is missing"},
		{"-depth 10", "depth \"10\" is not a number from 1 to 9"},
		{"-by", "something is missing after \"-by\""},
		{"-by bl", "-by: \"bl\" is ambiguous: blue, black"},
		{"-by red,blue", "-by: no \"red,blue\": blue, black, red"},
		{"-kinds red,", "-kinds: no \"\": blue, black, red"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct pdb_error err;
		struct taken taken;
		char *rest;

		assert_int_equal(take(cases[i].text, 0, &taken, &rest, &err), -1);
		assert_string_equal(err.text, cases[i].why);
		assert_int_equal(err.code, ERROR_USAGE);
		free(rest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
