/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/departure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/xalloc.h"
#include "tests/unit/unit.h"

/* Calls are letters: `before` once, `round` as often as fills 1200 calls, `after`. */
static uint32_t *course(const char *before, const char *round, const char *after, size_t *num_ret)
{
	size_t length = strlen(round), num = 0, rounds = 1200 / length + 1;
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

#define AB_8 "abababababababab"
#define AB_32 AB_8 AB_8 AB_8 AB_8

static void test_departure(void **state)
{
	static const struct {
		const char *before, *round, *after;
		const char *expected; /* which call from the end, what it is in place of what */
	} cases[] = {
		/* Keeps to its course, wherever in the round it is. */
		{"", "a", "", "kept"},
		{"", "abc", "ab", "kept"},
		{"", "isw", "is", "kept"},
		{"i", "abcabd", "abcab", "kept"},
		/* A call that it has never made, or not after that one. */
		{"", "abc", "abx", "1: bx, not c, 401 of 401 times, memory 1"},
		{"", "abc", "ac", "1: ac, not b, 401 of 401 times, memory 1"},
		{"", "abc", "aca", "2: ac, not b, 401 of 401 times, memory 1"},
		/* Each step is usual, but not after the calls before: a round without its 3rd call. */
		{"", "rsrrsA", "rr", "1: rr, not s, 200 of 200 times, memory 2"},
		{"", "iwiswiw", "iwiw", "1: iw, not s, 171 of 171 times, memory 5"},
		/* It used to go on now so, now so. */
		{"", "abacab", "ax", "1: ax, not b, 402 of 603 times, memory 1"},
		/* It has seldom been there. */
		{"cdcdcdcdcdxycdcdcdcdcdxy", "cd", "xz", "kept"},
		/* The first of two; one that is before those that are looked at. */
		{"", "ab", "xabababyabababab", "16: bx, not a, 600 of 600 times, memory 1"},
		{"", "ab", "x" AB_32 "abababababy", "unknown"},
		/* That was long ago. */
		{"", "ab", "x" AB_32 AB_32 AB_32, "kept"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t num;
		uint32_t *calls = course(cases[i].before, cases[i].round, cases[i].after, &num);
		struct departure departure;
		char text[100];
		enum course course = departure_find(calls, num, &departure);

		print_message("case %zu\n", i);
		if (course == COURSE_LEFT)
			snprintf(text, sizeof(text), "%zu: %c%c, not %c, %zu of %zu times, memory %zu",
				 departure.since + 1, (char)departure.last, (char)departure.call,
				 (char)departure.usual, departure.num_usual, departure.num_times,
				 departure.num_memory);
		else
			snprintf(text, sizeof(text), "%s", course == COURSE_KEPT ? "kept" : "unknown");
		assert_string_equal(text, cases[i].expected);
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
	assert_int_equal(departure_find(calls, 0, &departure), COURSE_UNKNOWN);
	assert_int_equal(departure_find(calls + 1, DEPARTURE_MIN_CALLS - 1, &departure), COURSE_UNKNOWN);
	assert_int_equal(departure_find(calls, DEPARTURE_MIN_CALLS, &departure), COURSE_LEFT);
}

/* ---- Programs whose course varies -----------------------------------------------------------------
 */

static uint64_t seed;

static double random_share(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) / (double)(1ull << 53);
}

/* Six calls, and with this probability for each another way through the round, of ten. */
static size_t with_variants(uint32_t *calls, double probability)
{
	size_t num = 0;

	if (random_share() < 6 * probability)
		calls[num++] = 100 + (uint32_t)(10 * random_share());
	for (uint32_t i = 0; i < 6; i++)
		calls[num++] = i;
	return num;
}

/* A call, then the first of some others in any order. */
static size_t in_any_order(uint32_t *calls, double num_others)
{
	size_t num = (size_t)num_others;

	calls[0] = 50;
	for (size_t i = 0; i < num; i++) {
		size_t other = 1 + (size_t)((double)(i + 1) * random_share());
		calls[i + 1] = calls[other];
		calls[other] = (uint32_t)i;
	}
	return num + 1;
}

/* Four calls, after each of which another may come. */
static size_t with_extras(uint32_t *calls, double probability)
{
	size_t num = 0;

	for (uint32_t i = 0; i < 4; i++) {
		calls[num++] = i;
		if (random_share() < probability)
			calls[num++] = 10 + i;
	}
	return num;
}

/* Who does new things time and again has no course to leave. */
static void test_varying(void **state)
{
	enum { NUM = 4096, TRIALS = 200, MAX_ROUND = 16 };
	static const struct {
		size_t (*make_round)(uint32_t *calls, double how);
		double how;
	} cases[] = {
		{with_variants, 0.001}, {with_variants, 0.01}, {with_variants, 0.03},
		{with_variants, 0.1},	{in_any_order, 2},     {in_any_order, 4},
		{in_any_order, 6},	{with_extras, 0.005},  {with_extras, 0.02},
		{with_extras, 0.05},	{with_extras, 0.1},
	};
	static uint32_t calls[NUM + MAX_ROUND];
	struct departure departure;

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		int num_left = 0;

		seed = i + 1;
		for (int trial = 0; trial < TRIALS; trial++) {
			for (size_t num = 0; num < NUM;)
				num += cases[i].make_round(calls + num, cases[i].how);
			num_left += departure_find(calls, NUM, &departure) == COURSE_LEFT;
		}
		print_message("case %zu: %d of %d\n", i, num_left, TRIALS);
		assert_in_range(num_left, 0, TRIALS / 50);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_departure),
		cmocka_unit_test(test_few_calls),
		cmocka_unit_test(test_varying),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
