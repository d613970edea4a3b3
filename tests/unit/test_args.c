/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "model/xalloc.h"
#include "shell/options/args.h"
#include "tests/unit/unit.h"

/* The words of a line joined by '|'. */
static char *join(const struct args *args)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < args->num_words; i++) {
		char *longer = xasprintf("%s%s%s", text, i ? "|" : "", args->words[i]);

		free(text);
		text = longer;
	}
	return text;
}

static void words_and_quotes(void **state)
{
	static const struct {
		const char *line, *words;
	} cases[] = {
		{"", ""},
		{"   \t ", ""},
		{"a", "a"},
		{"  a  b\tc ", "a|b|c"},
		{"'a b' c", "a b|c"},
		{"\"a b\"c", "a bc"},
		{"a\\ b", "a b"},
		{"\"say \\\"hi\\\"\"", "say \"hi\""},
		{"\"back\\\\slash\"", "back\\slash"},
		{"'no \\ escape'", "no \\ escape"},
		{"\"other \\n stays\"", "other \\n stays"},
		{"'' b", "|b"},
		{"a # the rest", "a"},
		{"a#b", "a#b"},
		{"'#' b", "#|b"},
		{"end\\", "end\\"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct args *args;
		char *words;

		assert_int_equal(args_parse(cases[i].line, &args, NULL), 0);
		words = join(args);
		assert_string_equal(words, cases[i].words);
		assert_ptr_equal(args->rest, cases[i].line);
		free(words);
		args_destroy(args);
	}
}

static void open_quotes_are_refused(void **state)
{
	static const char *const lines[] = {"'", "a 'b", "\"a", "a \"b\\\""};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct pdb_error err;
		struct args *args = NULL;

		assert_int_equal(args_parse(lines[i], &args, &err), -1);
		assert_int_equal(err.code, ERROR_USAGE);
		assert_null(args);
	}
}

static void numbers(void **state)
{
	static const struct {
		const char *line;
		int result;
		long value;
	} cases[] = {
		{"1", 0, 1},   {"10", 0, 10}, {"0", -1, 0},
		{"11", -1, 0}, {"x", -1, 0},  {"1x", -1, 0},
		{"''", -1, 0}, {"", -1, 0},   {"99999999999999999999", -1, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct args *args;
		struct pdb_error err;
		size_t next = 0;
		long value = 0;

		assert_int_equal(args_parse(cases[i].line, &args, NULL), 0);
		assert_int_equal(args_take_number(args, &next, "count", 1, 10, &value, &err),
				 cases[i].result);
		assert_int_equal(value, cases[i].value);
		assert_int_equal(next, cases[i].result ? 0 : 1);
		if (cases[i].result)
			assert_non_null(strstr(err.text, "count"));
		args_destroy(args);
	}
}

static void expressions(void **state)
{
	struct pdb_error err;
	regex_t expression;

	(void)state;
	assert_int_equal(args_compile("^a+$", 0, &expression, &err), 0);
	assert_int_equal(regexec(&expression, "aa", 0, NULL, 0), 0);
	regfree(&expression);
	assert_int_equal(args_compile("^A+$", REG_ICASE, &expression, &err), 0);
	assert_int_equal(regexec(&expression, "aa", 0, NULL, 0), 0);
	regfree(&expression);
	assert_int_equal(args_compile("a(", 0, &expression, &err), -1);
	assert_error(&err, ERROR_USAGE, "regular expression \"a(\": ");
}

/* The C library would take all memory for some, and all time for others. */
static void expressions_that_explode(void **state)
{
	static const struct {
		const char *text;
		bool is_good;
	} cases[] = {
		{"MPI_(Send|Recv)+", true},
		{"^a{1,200}$", true},
		{"[[:alpha:]+{9}]{3}x", true},
		{"[]{999}()](a)", true},
		{"\\(\\(a{500}", true},
		{"(a+)+", true},
		{"a{2000}", false},
		{"a{1,2000}", false},
		{"a{,2000}", false},
		{"a{999,}{3}", false},
		{"(((a{1,255}){1,255}){1,255})", false},
		{"(a{20}b{20}){30}", false},
		{"((((((((((a+)+)+)+)+)+)+)+)+)+", false},
		{"(a*)*\\1", false},
	};
	char *parentheses = calloc(1, 100001), *letters = calloc(1, 1002);
	struct pdb_error err;
	regex_t expression;

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		int result = args_compile(cases[i].text, 0, &expression, &err);

		if (result == 0)
			regfree(&expression);
		else
			assert_error(&err, ERROR_USAGE, "use a simpler one");
		if ((result == 0) != cases[i].is_good)
			fail_msg("%s", cases[i].text);
	}
	memset(parentheses, '(', 100000);
	assert_int_equal(args_compile(parentheses, 0, &expression, &err), -1);
	memset(letters, 'a', 1001);
	assert_int_equal(args_compile(letters, 0, &expression, &err), -1);
	letters[1000] = '\0';
	assert_int_equal(args_compile(letters, 0, &expression, &err), 0);
	regfree(&expression);
	free(parentheses);
	free(letters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_that_explode),
		cmocka_unit_test(words_and_quotes),
		cmocka_unit_test(open_quotes_are_refused),
		cmocka_unit_test(numbers),
		cmocka_unit_test(expressions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
