/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "shell/options/args.h"
#include "shell/options/option.h"
#include "tests/unit/unit.h"

enum { USER_OF_MORE = 1 };

struct taken {
	bool full, more;
	unsigned int depth, by, kinds, furthest;
	const char *text, *pattern, *file;
	double time, rate;
	struct option_list list;
};

static const char *const colours[] = {"blue", "black", "red", NULL};

#define TAKES(text, type, member)                                                                  \
	.name = text, .kind = OPTION_##type, .place = offsetof(struct taken, member)

static const struct option_spec options[] = {
	{TAKES("by", CHOICE, by), .choices = colours, .initial = "black"},
	{TAKES("depth", NUMBER, depth), .argument = "N", .min = 1, .max = 9},
	{TAKES("full", FLAG, full)},
	{TAKES("furthest", NUMBER, furthest), .argument = "[N]", .max = 9, .otherwise = "1"},
	{TAKES("kinds", SET, kinds), .choices = colours},
	{TAKES("more", FLAG, more), .users = USER_OF_MORE},
	{TAKES("text", TEXT, text), .argument = "WORD"},
	{TAKES("pattern", PATTERN, pattern), .argument = "RE"},
	{TAKES("file", FILE, file), .argument = "FILE"},
	{TAKES("time", TIME, time), .argument = "TIME", .initial = "1min"},
	{TAKES("rate", RATE, rate), .argument = "RATE"},
	{TAKES("list", LIST, list), .argument = "WORD"},
};

static const struct option_table table = {options, NUM_OF(options), "-", NULL};

static int take(const char *text, unsigned int users, struct taken *ret, struct args **args,
		char **rest_ret, struct pdb_error *err)
{
	struct args rest;
	int result;

	assert_int_equal(args_parse(text, args, err), 0);
	*ret = (struct taken){.full = false};
	option_init(&table, ret);
	result = option_take_all(&table, users, *args, ret, &rest, err);
	*rest_ret = args_join(&rest, 0);
	free(rest.words);
	return result;
}

static void test_good(void **state)
{
	static const struct {
		const char *text;
		struct taken taken;
		const char *rest;
	} cases[] = {
		{"", {.by = 1}, ""},
		{"0 -full 3-5", {.full = true, .by = 1}, "0 3-5"},
		{"--full -", {.full = true, .by = 1}, "-"},
		{"-d 9 a", {.depth = 9, .by = 1}, "a"},
		{"--depth=3", {.depth = 3, .by = 1}, ""},
		{"-by r", {.by = 2}, ""},
		{"-kinds blue,red -k bla", {.by = 1, .kinds = 1 | 2 | 4}, ""},
		{"-fur -m", {.by = 1, .furthest = 1, .more = true}, ""},
		{"-fur 5 lp", {.by = 1, .furthest = 5}, "lp"},
		{"-fur lp", {.by = 1, .furthest = 1}, "lp"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const struct taken *expected = &cases[i].taken;
		struct pdb_error err;
		struct taken taken;
		struct args *args;
		char *rest;

		if (take(cases[i].text, USER_OF_MORE, &taken, &args, &rest, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_int_equal(taken.full, expected->full);
		assert_int_equal(taken.more, expected->more);
		assert_int_equal(taken.depth, expected->depth);
		assert_int_equal(taken.by, expected->by);
		assert_int_equal(taken.kinds, expected->kinds);
		assert_int_equal(taken.furthest, expected->furthest);
		assert_string_equal(rest, cases[i].rest);
		free(rest);
		args_destroy(args);
	}
}

static void test_texts(void **state)
{
	struct pdb_error err;
	struct taken taken;
	struct args *args;
	char *rest;

	(void)state;
	assert_int_equal(
		take("-text 'a b' -pattern=x -file f -time 1.5h -rate 1e-6 -list a -list b", 0,
		     &taken, &args, &rest, &err),
		0);
	assert_string_equal(taken.text, "a b");
	assert_string_equal(taken.pattern, "x");
	assert_string_equal(taken.file, "f");
	assert_true(taken.time == 5400);
	assert_true(taken.rate == 1e-6);
	assert_int_equal(taken.list.num, 2);
	assert_string_equal(taken.list.words[1].text, "b");
	assert_ptr_equal(taken.list.words[0].option, &options[NUM_OF(options) - 1]);
	option_list_free(&taken.list);
	free(rest);
	args_destroy(args);
}

static void test_no_other_words(void **state)
{
	struct taken taken = {.full = false};
	struct pdb_error err;
	struct args *args;

	(void)state;
	assert_int_equal(args_parse("-full x", &args, &err), 0);
	assert_int_equal(option_take_all(&table, 0, args, &taken, NULL, &err), -1);
	assert_error(&err, ERROR_USAGE, "\"x\" is no option; options begin with -");
	args_destroy(args);
}

static void test_help(void **state)
{
	static const struct option_spec some[] = {
		{.name = "by", .kind = OPTION_CHOICE, .choices = colours, .help = "which"},
		{.name = "full", .help = "all of it"},
		{.name = "most", .argument = "[N]", .kind = OPTION_NUMBER, .users = 2, .help = "x"},
		{.name = "a-name-of-many-words-indeed",
		 .argument = "ARGUMENT",
		 .kind = OPTION_TEXT,
		 .help = "what has a long name begins where that ends, and goes on below"},
	};
	const struct option_table shown = {some, NUM_OF(some), "--", "A note."};
	char *text = option_help(&shown, 1);

	(void)state;
	assert_string_equal(
		text,
		"  --by blue|black|red  which\n"
		"  --full               all of it\n"
		"  --a-name-of-many-words-indeed ARGUMENT   what has a long name begins where\n"
		"                       that ends, and goes on below\n"
		"A note.");
	free(text);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"-fu", "option \"-fu\" is ambiguous: -full, -furthest"},
		{"-fulll", "no option \"-fulll\"; did you mean \"-full\"?"},
		{"-more", "option \"-more\" is not one of: -by, -depth, "},
		{"--", "option \"-\" is not one of: -by, -depth, "},
		{"-depth", "-depth takes N"},
		{"-full=yes", "-full takes no value"},
		{"-depth 10", "-depth is a number from 1 to 9, not \"10\""},
		{"-depth 0", "-depth is a number from 1 to 9, not \"0\""},
		{"-depth 4294967297", "-depth is a number from 1 to 9"},
		{"-by", "-by takes blue|black|red"},
		{"-by bl", "-by \"bl\" is ambiguous: blue, black"},
		{"-by red,blue", "-by \"red,blue\" is not one of: blue, black, red"},
		{"-kinds red,", "-kinds \"\" is not one of: blue, black, red"},
		{"-pattern a -pattern b", "-pattern is there twice"},
		{"-file ''", "-file needs the name of a file"},
		{"-time 0", "-time is a time of a second or more, as 90s, 5min or 1h, not \"0\""},
		{"-time 5d", "a second or more"},
		{"-time inf", "a second or more"},
		{"-rate 0", "-rate is a number from 1e-12 to 0.5, not \"0\""},
		{"-rate nan", "1e-12 to 0.5"},
		{"-rate 0.1x", "1e-12 to 0.5"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct pdb_error err;
		struct taken taken;
		struct args *args;
		char *rest;

		assert_int_equal(take(cases[i].text, 0, &taken, &args, &rest, &err), -1);
		assert_error(&err, ERROR_USAGE, cases[i].why);
		free(rest);
		args_destroy(args);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),           cmocka_unit_test(test_texts),
		cmocka_unit_test(test_no_other_words), cmocka_unit_test(test_help),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
