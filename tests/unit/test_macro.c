/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "shell/options/args.h"
#include "shell/script/macro.h"
#include "tests/unit/unit.h"

static void names(void **state)
{
	static const char *const good[] = {"a", "Why0", "two-words", "x_1"};
	static const char *const bad[] = {"", "1a", "-a", "a b", "a.b", "$x", "\303\244"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(macro_name_is_valid(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(macro_name_is_valid(bad[i]));
}

static void expansion(void **state)
{
	static const struct {
		const char *line, *words, *expanded;
	} cases[] = {
		{"why $arg0", "3", "why 3"},
		{"$arg1 $arg0", "a b", "b a"},
		{"bt $arg0,$arg1", "1 2", "bt 1,2"},
		{"echo $argc", "", "echo 0"},
		{"echo $argc", "a b c", "echo 3"},
		{"why $arg0", "", "why "},
		{"why $arg9", "3", "why "},
		{"shell echo $HOME $1 $", "x", "shell echo $HOME $1 $"},
		{"$argx $argcount", "x", "$argx $argcount"},
		{"$arg10", "a b", ""},
		{"plain", "x", "plain"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct args *args;
		char *text;

		assert_int_equal(args_parse(cases[i].words, &args, NULL), 0);
		text = macro_expand(cases[i].line, args);
		assert_string_equal(text, cases[i].expanded);
		free(text);
		args_destroy(args);
	}
}

static void a_table_by_name(void **state)
{
	static const char *const order[] = {"c", "a", "b", "a"};
	struct macros macros = {0};
	const struct macro *macro;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct macro *added = macro_create(order[i]);

		macro_add_line(added, i == 3 ? "second" : "first");
		macros_set(&macros, added);
	}
	macro = macros.first;
	assert_string_equal(macro->name, "a");
	assert_int_equal(macro->num_lines, 1);
	assert_string_equal(macro->lines[0], "second");
	assert_string_equal(macro->next->name, "b");
	assert_string_equal(macro->next->next->name, "c");
	assert_null(macro->next->next->next);
	assert_ptr_equal(macros_find(&macros, "b"), macro->next);
	assert_null(macros_find(&macros, "d"));
	macros_clear(&macros);
	assert_null(macros.first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(expansion),
		cmocka_unit_test(a_table_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
