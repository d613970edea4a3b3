/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/departure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/xalloc.h"
#include "tests/unit/unit.h"

/* Calls are letters: `before` once, `round` as often as fills 600 calls, `after`. */
static uint32_t *course(const char *before, const char *round, const char *after, size_t *num_ret)
{
	size_t length = strlen(round), num = 0, rounds = 600 / length + 1;
	uint32_t *calls = xcalloc(strlen(before) + rounds * length + strlen(after), sizeof(*calls));

	for (const char *c = before; *c; c++)
		calls[num++] = (uint32_t)*c;
	for (size_t i = 0; i < rounds * length; i++)
		calls[num++] = (uint32_t)round[i % length];
	for (const char *c = after; *c; c++)
		calls[num++] = (uint32_t)*c;
	*num_ret = num;
	return calls;
}

static void test_departure(void **state)
{
	static const struct {
		const char *before, *round, *after;
		const char *expected; /* which call from the end, what it is in place of what; "": none */
	} cases[] = {
		/* Keeps to its course, wherever in the round it is. */
		{"", "a", "", ""},
		{"", "abc", "ab", ""},
		{"", "isw", "is", ""},
		{"i", "abcabd", "abcab", ""},
		/* A call that it has never made, or not after that one. */
		{"", "abc", "abx", "1: bx, not c, 201 of 201 times, memory 1"},
		{"", "abc", "ac", "1: ac, not b, 201 of 201 times, memory 1"},
		{"", "abc", "aca", "2: ac, not b, 201 of 201 times, memory 1"},
		/* Each step is usual, but not after the calls before: a round without its 3rd call. */
		{"", "rsrrsA", "rr", "1: rr, not s, 100 of 100 times, memory 2"},
		{"", "iwiswiw", "iwiw", "1: iw, not s, 85 of 85 times, memory 5"},
		/* It used to go on now so, now so. */
		{"", "abacab", "ax", "1: ax, not b, 202 of 303 times, memory 1"},
		/* It has been there less than ten times. */
		{"cdcdcdcdcdxycdcdcdcdcdxy", "cd", "xz", ""},
		/* The first of two; one that is before those that are looked at. */
		{"", "ab", "xabababyabababab", "16: bx, not a, 300 of 300 times, memory 1"},
		{"", "ab", "xabababababababababababababababababababababababababababababababababababababababy", ""},
		/* That was long ago. */
		{"", "ab", "xabababababababababababababababababababababababababababababababababababab", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t num;
		uint32_t *calls = course(cases[i].before, cases[i].round, cases[i].after, &num);
		struct departure departure;
		char text[100];
		bool is_found = departure_find(calls, num, &departure);

		print_message("case %zu\n", i);
		if (is_found)
			snprintf(text, sizeof(text), "%zu: %c%c, not %c, %zu of %zu times, memory %zu",
				 num - departure.at, (char)departure.last, (char)departure.call,
				 (char)departure.usual, departure.num_usual, departure.num_times,
				 departure.num_memory);
		assert_string_equal(is_found ? text : "", cases[i].expected);
		free(calls);
	}
}

/* Of few calls nobody knows what is usual. */
static void test_few_calls(void **state)
{
	uint32_t calls[DEPARTURE_MIN_CALLS] = {0};
	struct departure departure;

	(void)state;
	calls[DEPARTURE_MIN_CALLS - 1] = 1;
	assert_false(departure_find(calls, 0, &departure));
	assert_false(departure_find(calls + 1, DEPARTURE_MIN_CALLS - 1, &departure));
	assert_true(departure_find(calls, DEPARTURE_MIN_CALLS, &departure));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_departure),
		cmocka_unit_test(test_few_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
