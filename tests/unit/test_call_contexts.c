/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/verdict/call_contexts.h"

#include <stdlib.h>

#include "model/arena.h"
#include "model/xalloc.h"
#include "tests/unit/unit.h"

enum { LANES = 4, CALLS = 700 };

static uint64_t seed;

static uint32_t random_below(uint32_t bound)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % bound;
}

/* Calls 100, 101 ..: any, or in turn with a slip now and then. */
static size_t make_calls(uint32_t *calls, uint32_t num_kinds, uint32_t period)
{
	size_t num = random_below(4) == 0 ? random_below(3) : CALLS - random_below(200);

	for (size_t i = 0; i < num; i++)
		calls[i] =
			100 + (period > 0 && random_below(90) > 0 ? (uint32_t)i % period % num_kinds
								  : random_below(num_kinds));
	return num;
}

static size_t naive_same(const struct call_contexts *c, uint32_t a, uint32_t b)
{
	size_t same = 0;

	while (same < CALL_CONTEXT_MEMORY && c->calls[a - same] == c->calls[b - same]) {
		same++;
		if (a + 1 - same == c->start[a] || b + 1 - same == c->start[b])
			break;
	}
	return same;
}

static void check_moment(const struct call_contexts *c, uint32_t moment)
{
	static const size_t memories[] = {1, 2, 3, 7, 64, 100, 255, 256};
	uint32_t other = c->order[random_below((uint32_t)c->num_moments)];

	assert_int_equal(call_contexts_count_same(c, moment, other), naive_same(c, moment, other));
	for (size_t m = 0; m < NUM_OF(memories); m++) {
		struct call_range range = call_contexts_find_alike(c, moment, memories[m]);

		for (size_t i = 0; i < c->num_moments; i++)
			assert_int_equal(i >= range.first && i < range.end,
					 c->order[i] == moment ||
						 naive_same(c, c->order[i], moment) >= memories[m]);
	}
}

/* What follows each moment, found by the call. */
static void check_followed(const struct call_contexts *c)
{
	for (uint32_t call = 0; call < c->num_kinds; call++) {
		size_t place = random_below((uint32_t)c->num_moments + 1);
		size_t expected = c->kind_first[call];

		for (size_t i = 0; i < place; i++)
			expected += c->calls[c->order[i] + 1] == call;
		assert_int_equal(call_contexts_find_followed(c, call, place), expected);
	}
}

/* All as if each moment were compared with each other. */
static void test_contexts(void **state)
{
	static uint32_t calls[LANES][CALLS];

	(void)state;
	for (seed = 0; seed < 60; seed++) {
		uint64_t trial = seed;
		uint32_t num_kinds = 1 + random_below(9), period = random_below(3) * 5;
		struct call_list lists[LANES];
		struct arena *arena = arena_create();
		struct call_contexts *c;

		for (size_t l = 0; l < LANES; l++)
			lists[l] = (struct call_list){calls[l],
						      make_calls(calls[l], num_kinds, period)};
		c = call_contexts_create(lists, LANES, 600, arena);
		for (size_t l = 0; l < LANES; l++) {
			size_t kept = lists[l].num < 600 ? lists[l].num : 600;

			assert_int_equal(c->first[l + 1] - c->first[l], kept);
			for (size_t i = 0; i < kept; i++)
				assert_int_equal(c->kinds[c->calls[c->first[l] + i]],
						 calls[l][lists[l].num - kept + i]);
		}
		if (c->num_moments > 0) {
			for (int i = 0; i < 10; i++)
				check_moment(c, c->order[random_below((uint32_t)c->num_moments)]);
			check_followed(c);
		}
		arena_destroy(arena);
		seed = trial;
	}
}

static void test_empty(void **state)
{
	struct call_list none = {NULL, 0};
	struct arena *arena = arena_create();
	struct call_contexts *c = call_contexts_create(&none, 1, 10, arena);

	(void)state;
	assert_int_equal(c->num_calls, 0);
	assert_int_equal(c->num_moments, 0);
	c = call_contexts_create(NULL, 0, 10, arena);
	assert_int_equal(c->num_lanes, 0);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_contexts),
					   cmocka_unit_test(test_empty)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
