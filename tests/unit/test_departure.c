/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/verdict/departure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/arena.h"
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

static const struct departure_limits limits = {64, 7, false};

/* Of the calls of one lane alone. */
static enum course find(const uint32_t *calls, size_t num, struct departure *ret)
{
	struct call_list lane = {calls, num};
	struct arena *arena = arena_create();
	enum course course = departure_find(
		call_contexts_create(&lane, 1, DEPARTURE_MAX_CALLS, arena), 0, &limits, ret);

	arena_destroy(arena);
	return course;
}

static void describe(enum course course, const struct departure *departure, char *text, size_t size)
{
	if (course == COURSE_LEFT)
		snprintf(text, size, "%zu: %c%c, not %c, %zu of %zu times, memory %zu",
			 departure->since + 1, (char)departure->last, (char)departure->call,
			 (char)departure->usual, departure->num_usual, departure->num_times,
			 departure->num_memory);
	else
		snprintf(text, size, "%s", course == COURSE_KEPT ? "kept" : "unknown");
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
		/* Each step is usual, but not after the calls before: a round without its 3rd call.
		 */
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
		enum course course = find(calls, num, &departure);

		print_message("case %zu\n", i);
		describe(course, &departure, text, sizeof(text));
		assert_string_equal(text, cases[i].expected);
		free(calls);
	}
}

/* Of few calls nobody knows what is usual. */
static void test_few_calls(void **state)
{
	enum { MIN_CALLS = 512 };
	uint32_t calls[MIN_CALLS] = {0};
	struct departure departure;

	(void)state;
	calls[MIN_CALLS - 1] = 1;
	assert_int_equal(find(calls, 0, &departure), COURSE_UNKNOWN);
	assert_int_equal(find(calls + 1, MIN_CALLS - 1, &departure), COURSE_UNKNOWN);
	assert_int_equal(find(calls, MIN_CALLS, &departure), COURSE_LEFT);
}

/* ---- Several lanes ---- */

/* Calls of a lane, made from a text: letters, and a number before one or a group in {} for times.
 */
static void add_calls(const char **text, uint32_t *calls, size_t *num)
{
	while (**text && **text != '}') {
		size_t times = 1, begin = *num, added;

		if (**text == ' ') {
			++*text;
			continue;
		}
		if (**text >= '0' && **text <= '9') {
			char *end;

			times = strtoul(*text, &end, 10);
			*text = end;
		}
		if (**text == '{') {
			++*text;
			add_calls(text, calls, num);
		} else {
			calls[(*num)++] = (uint32_t) * *text;
		}
		++*text;
		added = *num - begin;
		for (size_t i = 1; i < times; i++, *num += added)
			memcpy(calls + *num, calls + begin, added * sizeof(*calls));
	}
}

static size_t parse(const char *text, uint32_t *calls)
{
	size_t num = 0;

	add_calls(&text, calls, &num);
	return num;
}

/* What others do after the same calls tells, too: of the first lane; seven others are alike. */
static void test_lanes(void **state)
{
	enum { LANES = 8 };
	static const struct {
		const char *first, *others;
		size_t window;
		bool is_only;
		const char *expected;
	} cases[] = {
		/* A loop of 40 rounds is left after 38, and six times was not. */
		{"6{40{isw}p} 38{isw}p", "7{40{isw}p}", 512, false,
		 "1: wp, not i, 47 of 47 times, memory 115, own 5"},
		{"6{40{isw}p} 38{isw}p", "6{40{isw}p} 40{isw}", 512, false,
		 "1: wp, not i, 47 of 47 times, memory 115, own 5"},
		{"6{40{isw}p} 40{isw}p", "7{40{isw}p}", 512, false, "kept"},
		/* Then it has gone on, for longer than is asked for. */
		{"6{40{isw}p} 38{isw}p 40{isw}p 99{isw}", "9{40{isw}p}", 512, false,
		 "419: wp, not i, 61 of 61 times, memory 115, own 5"},
		{"6{40{isw}p} 38{isw}p 40{isw}p 99{isw}", "9{40{isw}p}", 64, false, "kept"},
		/* Others do so, too. */
		{"6{40{isw}p} 38{isw}p", "4{40{isw}p} 38{isw}p 3{40{isw}p}", 512, false, "kept"},
		/* It has come by there too seldom itself: it may have another part in the program.
		 */
		{"6{400x} 4{40{isw}p} 38{isw}p", "9{40{isw}p}", 512, false, "kept"},
		/* Others have come by too seldom. */
		{"6{40{isw}p} 38{isw}p", "600x 2{40{isw}p}", 512, false, "kept"},
		/* It kept its course for too short a time before that. */
		{"6{40{isw}p} 38{isw}p 2{40{isw}p} 37{isw}p 3{40{isw}p}", "9{40{isw}p}", 512, false,
		 "unknown"},
		/* It had left it before: so it may be usual, if the evidence is weak. */
		{"6{40{isw}p} 38{isw}p 7{40{isw}p} 37{isw}p", "9{40{isw}p}", 512, false,
		 "1: wp, not i, 69 of 69 times, memory 112, own 13"},
		{"6{40{isw}p} 38{isw}p 7{40{isw}p} 37{isw}p", "9{40{isw}p}", 512, true, "unknown"},
		{"9{40{isw}p} 37{isw}p", "9{40{isw}p}", 512, true,
		 "1: wp, not i, 64 of 64 times, memory 112, own 8"},
		/* The others have not called at all. */
		{"6{40{isw}p} 38{isw}p", "", 512, false, "kept"},
	};
	static uint32_t calls[2][20000];

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct call_list lanes[LANES];
		struct departure_limits wide = {cases[i].window, 7, cases[i].is_only};
		struct departure departure;
		struct arena *arena = arena_create();
		struct call_contexts *contexts;
		char text[100];
		enum course course;

		lanes[0] = (struct call_list){calls[0], parse(cases[i].first, calls[0])};
		lanes[1] = (struct call_list){calls[1], parse(cases[i].others, calls[1])};
		for (size_t l = 2; l < LANES; l++)
			lanes[l] = lanes[1];
		contexts = call_contexts_create(lanes, LANES, DEPARTURE_MAX_CALLS, arena);
		course = departure_find(contexts, 0, &wide, &departure);
		print_message("case %zu\n", i);
		describe(course, &departure, text, sizeof(text));
		if (course == COURSE_LEFT)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), ", own %zu",
				 departure.num_own);
		assert_string_equal(text, cases[i].expected);
		arena_destroy(arena);
	}
}

/* ---- Programs whose course varies
 * -----------------------------------------------------------------
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

enum { NUM = 4096, TRIALS = 50, MAX_ROUND = 16, NUM_LANES = 4 };

static uint32_t varying[NUM_LANES][NUM + MAX_ROUND];

/* How many of NUM_LANES lanes have left their course, compared with each other or each alone. */
static int count_left(bool are_compared, const struct departure_limits *how)
{
	struct call_list lanes[NUM_LANES];
	struct departure departure;
	int num_left = 0;

	for (size_t l = 0; l < NUM_LANES; l++)
		lanes[l] = (struct call_list){varying[l], NUM};
	for (size_t l = 0; l < NUM_LANES; l++) {
		struct arena *arena = arena_create();
		struct call_contexts *contexts =
			are_compared ? call_contexts_create(lanes, NUM_LANES, NUM, arena)
				     : call_contexts_create(lanes + l, 1, NUM, arena);

		num_left += departure_find(contexts, are_compared ? l : 0, how, &departure) ==
			    COURSE_LEFT;
		arena_destroy(arena);
	}
	return num_left;
}

/* Who does new things time and again has no course to leave. */
static void test_varying(void **state)
{
	static const struct departure_limits wide = {512, 7, false}, weak = {512, 3.5, true};
	static const struct {
		size_t (*make_round)(uint32_t *calls, double how);
		double how;
	} cases[] = {
		{with_variants, 0.001}, {with_variants, 0.01}, {with_variants, 0.03},
		{with_variants, 0.1},   {in_any_order, 2},     {in_any_order, 4},
		{in_any_order, 6},      {with_extras, 0.005},  {with_extras, 0.02},
		{with_extras, 0.05},    {with_extras, 0.1},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		int num_alone = 0, num_compared = 0, num_weak = 0;

		seed = i + 1;
		for (int trial = 0; trial < TRIALS; trial++) {
			for (size_t l = 0; l < NUM_LANES; l++)
				for (size_t num = 0; num < NUM;)
					num += cases[i].make_round(varying[l] + num, cases[i].how);
			num_alone += count_left(false, &limits);
			num_compared += count_left(true, &wide);
			num_weak += count_left(true, &weak);
		}
		print_message("case %zu: %d alone, %d compared, %d weak, of %d\n", i, num_alone,
			      num_compared, num_weak, TRIALS * NUM_LANES);
		assert_in_range(num_alone, 0, TRIALS * NUM_LANES / 50);
		assert_in_range(num_compared, 0, TRIALS * NUM_LANES / 50);
		assert_in_range(num_weak, 0, TRIALS * NUM_LANES / 10);
	}
}

/* Is a step that is new to a lane known to others? */
static void test_known(void **state)
{
	static const struct {
		const char *first, *others;
		bool is_known;
	} cases[] = {
		{"300{ab} ac", "300{ab}", false},
		{"300{ab} ac", "300{ab} acab", true},
		{"300{ab} ac", "300{cac}", true},
		/* After more of the same calls than are needed for it to be new. */
		{"200{rsrrsA} rr", "200{rsrrsA}", false},
		{"200{rsrrsA} rr", "200{rsrrsA} rrA", true},
	};
	static uint32_t calls[2][2000];

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct call_list lanes[] = {{calls[0], parse(cases[i].first, calls[0])},
					    {calls[1], parse(cases[i].others, calls[1])}};
		struct arena *arena = arena_create();
		struct call_contexts *contexts =
			call_contexts_create(lanes, 2, DEPARTURE_MAX_CALLS, arena);
		struct departure departure;

		print_message("case %zu\n", i);
		assert_int_equal(find(lanes[0].calls, lanes[0].num, &departure), COURSE_LEFT);
		assert_int_equal(departure_is_known(contexts, 0, &departure), cases[i].is_known);
		arena_destroy(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_departure), cmocka_unit_test(test_few_calls),
		cmocka_unit_test(test_lanes),     cmocka_unit_test(test_known),
		cmocka_unit_test(test_varying),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
