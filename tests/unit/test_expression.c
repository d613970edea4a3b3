/* SPDX-License-Identifier: BSD-3-Clause
 * Which expressions print reads, and which it leaves to gdb. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attach/values/expression.h"
#include "model/arena.h"
#include "model/error.h"
#include "tests/unit/unit.h"

/* "p .next [3]" for "p->next[3]". */
static void write_steps(const struct expression *expression, char *text, size_t size)
{
	size_t length = (size_t)snprintf(text, size, "%s", expression->name);

	for (size_t i = 0; i < expression->num_steps; i++) {
		const struct expression_step *step = &expression->steps[i];
		char *to = text + length;
		size_t room = size - length;

		switch (step->kind) {
		case EXPRESSION_FOLLOW:
			length += (size_t)snprintf(to, room, " *");
			break;
		case EXPRESSION_MEMBER:
			length += (size_t)snprintf(to, room, " .%s", step->name);
			break;
		case EXPRESSION_ELEMENT:
			length += (size_t)snprintf(to, room, " [%" PRId64 "]", step->first);
			break;
		case EXPRESSION_SLICE:
			length += step->is_all
					  ? (size_t)snprintf(to, room, " [:]")
					  : (size_t)snprintf(to, room, " [%" PRId64 ":%" PRId64 "]",
							     step->first, step->last);
			break;
		}
	}
}

static void test_expressions(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"n", "n"},
		{" n ", "n"},
		{"_a9", "_a9"},
		{"a::b", "a::b"},
		{"p->x", "p .x"},
		{"p->x.y", "p .x .y"},
		{"cell%id", "cell .id"},
		{"*p", "p *"},
		{"**p", "p * *"},
		{"*p.x", "p .x *"},
		{"(*p).x", "p * .x"},
		{"((p))", "p"},
		{"a[3]", "a [3]"},
		{"a[-1]", "a [-1]"},
		{"a[0x10]", "a [16]"},
		{"a[1][2]", "a [1] [2]"},
		{"a(2,3)", "a [2] [3]"},
		{"a[0:10]", "a [0:10]"},
		{"a(1:3)", "a [1:4]"},
		{"a(:)", "a [:]"},
		{"a(2:3,1,:)", "a [2:4] [1] [:]"},
		{"a[2:3].x", "a [2:3] .x"},
		{"g->data[2]->next[0:4]", "g .data [2] .next [0:4]"},
		/* Refused. */
		{"", NULL},
		{"3", NULL},
		{"$rip", NULL},
		{"n+1", NULL},
		{"n 1", NULL},
		{"f(x)", NULL},
		{"a[i]", NULL},
		{"a[]", NULL},
		{"a[1", NULL},
		{"a[:]", NULL},
		{"a[1,2]", NULL},
		{"a(1:2:3)", NULL},
		{"a[3:3]", NULL},
		{"a[99999999999999999999]", NULL},
		{"a(1:9223372036854775807)", NULL},
		{"(p", NULL},
		{"p->", NULL},
		{"p.3", NULL},
		{"&x", NULL},
		{"(int)x", NULL},
		{"sizeof(x)", NULL},
		{"\"text\"", NULL},
		{"a[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]", NULL},
		{"*****************p", NULL},
		{"(((((((((((((((((p)))))))))))))))))", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct arena *arena = arena_create();
		struct expression expression;
		struct pdb_error err = {.code = ERROR_NONE};
		char text[200];
		int result = expression_parse(arena, cases[i].text, &expression, &err);

		if (!cases[i].expected) {
			assert_int_equal(result, -1);
			assert_int_equal(err.code, ERROR_UNSUPPORTED);
			assert_non_null(strstr(err.text, "more than a name"));
		} else {
			assert_int_equal(result, 0);
			write_steps(&expression, text, sizeof(text));
			assert_string_equal(text, cases[i].expected);
		}
		arena_destroy(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_expressions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
