/* SPDX-License-Identifier: BSD-3-Clause
 * The hang test in jobs of simulated time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hang/hang_test.h"
#include "analysis/hang/statistics.h"
#include "tests/unit/unit.h"

enum { MS = 1000000, NUM_RANKS = 64, MAX_SAMPLES = 100000 };

#define SECONDS(number) ((uint64_t)((number)*1e9))

static struct hang_test *start_test(int num_ranks)
{
	const struct hang_settings settings = {.num_ranks = num_ranks, .alpha = 0.001, .seed = 1};

	return hang_test_create(&settings, 5, NULL);
}

/* Each rank in turn, or `culprit` alone, outside MPI: until the state is `until`. Returns seconds.
 */
static double feed_hung(struct hang_test *test, int culprit, enum hang_state until)
{
	uint64_t start = hang_test_next(test), now = start;

	for (int s = 0; s < MAX_SAMPLES && hang_test_state(test) != until; s++) {
		enum hang_look looks[NUM_RANKS] = {0};
		size_t num;
		const int *ranks = hang_test_ranks(test, &num);

		for (size_t i = 0; i < num; i++)
			looks[i] = ranks[i] == culprit ? HANG_OUTSIDE : HANG_INSIDE;
		now = hang_test_next(test);
		hang_test_sample(test, now, looks);
	}
	return (double)(now - start) / 1e9;
}

/* A share of ranks outside that is drawn anew for each sample; none of them while `share_low` is
 * drawn below. */
static void feed_healthy(struct hang_test *test, size_t num_samples, double share_low,
			 uint64_t seed)
{
	for (size_t s = 0; s < num_samples; s++) {
		enum hang_look looks[NUM_RANKS] = {0};
		double share = statistics_random_unit(&seed);
		size_t num;

		if (statistics_random_unit(&seed) < share_low)
			share = 0;
		hang_test_ranks(test, &num);
		for (size_t i = 0; i < num; i++)
			looks[i] =
				statistics_random_unit(&seed) < share ? HANG_OUTSIDE : HANG_INSIDE;
		hang_test_sample(test, hang_test_next(test), looks);
	}
}

static void test_hang_is_found(void **state)
{
	struct hang_test *test = start_test(NUM_RANKS);
	struct hang_figures figures;
	double first, second;

	(void)state;
	assert_int_equal(hang_test_next(test), 5);
	assert_int_equal(hang_test_state(test), HANG_LEARNING);
	hang_test_figures(test, &figures);
	assert_true(figures.s_out == -1);
	assert_true(figures.chance >= 1);
	feed_healthy(test, 400, 0.1, 7);
	assert_in_range(hang_test_state(test), HANG_WATCHING, HANG_SUSPICIOUS);
	first = feed_hung(test, -1, HANG_CONFIRM);
	assert_true(first >= 6 && first < 20);

	/* It was a slow-down: the next one has to last longer. */
	hang_test_confirm(test, true);
	assert_int_equal(hang_test_state(test), HANG_WATCHING);
	second = feed_hung(test, -1, HANG_CONFIRM);
	assert_true(second > 1.5 * first);
	hang_test_confirm(test, false);
	assert_int_equal(hang_test_state(test), HANG_FOUND);
	hang_test_figures(test, &figures);
	assert_true(figures.num_low >= figures.needed);
	assert_true(figures.chance <= 0.001);
	assert_true(figures.s_out == 0);

	/* Nothing changes that any more. */
	feed_healthy(test, 100, 0, 7);
	hang_test_confirm(test, true);
	assert_int_equal(hang_test_state(test), HANG_FOUND);
	hang_test_destroy(test);
	hang_test_destroy(NULL);
}

/* Whoever it is that loops for ever outside MPI: one of both sets does not have it. */
static void test_culprit_in_a_set(void **state)
{
	(void)state;
	for (int culprit = 0; culprit < NUM_RANKS; culprit += 3) {
		struct hang_test *test = start_test(NUM_RANKS);

		feed_healthy(test, 400, 0.2, 7);
		assert_true(feed_hung(test, culprit, HANG_CONFIRM) < 40);
		assert_int_equal(hang_test_state(test), HANG_CONFIRM);
		hang_test_destroy(test);
	}
}

static void assert_sets(int num_ranks, bool sees_all, size_t first, size_t second)
{
	const struct hang_settings settings = {
		.num_ranks = num_ranks, .alpha = 0.001, .sees_all = sees_all, .seed = 1};
	struct hang_test *test;
	char seen[1024] = {0};
	size_t num, total = 0;

	test = hang_test_create(&settings, 0, NULL);
	for (int s = 0; s < 60; s++) {
		enum hang_look looks[1024] = {0};
		const int *ranks = hang_test_ranks(test, &num);

		assert_int_equal(num, sees_all            ? first + second
				      : s < 30 || !second ? first
							  : second);
		for (size_t i = 0; i < num; i++) {
			assert_in_range(ranks[i], 0, num_ranks - 1);
			total += !seen[ranks[i]];
			seen[ranks[i]] = 1;
			looks[i] = s % 2 ? HANG_OUTSIDE : HANG_INSIDE;
		}
		hang_test_sample(test, hang_test_next(test), looks);
	}
	assert_int_equal(total, first + second);
	hang_test_destroy(test);
}

/* Two sets without a common rank, in turns of 30 or at once; halves of few ranks. */
static void test_sets(void **state)
{
	(void)state;
	assert_sets(1000, false, 10, 10);
	assert_sets(64, true, 32, 32);
	assert_sets(20, false, 10, 10);
	assert_sets(19, false, 10, 9);
	assert_sets(4, false, 2, 2);
	assert_sets(3, true, 2, 1);
	assert_sets(2, false, 1, 1);
	assert_sets(1, false, 1, 0);
	assert_sets(1, true, 1, 0);
}

/* Steps lie in [I/2, 3I/2]. */
static void test_steps(void **state)
{
	struct hang_test *test = start_test(NUM_RANKS);
	uint64_t before = hang_test_next(test), shortest = UINT64_MAX, longest = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		uint64_t step;

		feed_healthy(test, 1, 0, (uint64_t)i);
		step = hang_test_next(test) - before;
		before += step;
		shortest = step < shortest ? step : shortest;
		longest = step > longest ? step : longest;
	}
	assert_in_range(shortest, 200 * MS, 210 * MS);
	assert_in_range(longest, 590 * MS, 600 * MS);
	hang_test_destroy(test);
}

/* The same seed asks for the same looks, another one for others. */
static void test_determinism(void **state)
{
	struct hang_settings settings = {.num_ranks = 1000, .alpha = 0.001};
	struct hang_test *tests[3];
	size_t num;

	(void)state;
	for (int t = 0; t < 3; t++) {
		settings.seed = t < 2 ? 42 : 43;
		tests[t] = hang_test_create(&settings, 0, NULL);
		feed_healthy(tests[t], 100, 0, 1);
	}
	assert_int_equal(hang_test_next(tests[0]), hang_test_next(tests[1]));
	assert_memory_equal(hang_test_ranks(tests[0], &num), hang_test_ranks(tests[1], &num),
			    10 * sizeof(int));
	assert_int_not_equal(hang_test_next(tests[0]), hang_test_next(tests[2]));
	assert_memory_not_equal(hang_test_ranks(tests[0], &num), hang_test_ranks(tests[2], &num),
				10 * sizeof(int));
	for (int t = 0; t < 3; t++)
		hang_test_destroy(tests[t]);
}

/* A clock set back; a watcher stopped for an hour; ranks that cannot be looked at. */
static void test_clock_and_holes(void **state)
{
	struct hang_test *test = start_test(NUM_RANKS);
	enum hang_look looks[NUM_RANKS] = {0};
	struct hang_figures before, after;

	(void)state;
	feed_healthy(test, 100, 0.1, 7);
	hang_test_figures(test, &before);
	for (int i = 0; i < NUM_RANKS; i++)
		looks[i] = HANG_OUTSIDE;
	hang_test_sample(test, 3, looks);
	assert_in_range(hang_test_next(test), 3 + 200 * MS, 3 + 600 * MS);
	hang_test_sample(test, SECONDS(3600), looks);
	assert_in_range(hang_test_next(test), SECONDS(3600.2), SECONDS(3600.6));
	hang_test_figures(test, &after);
	assert_int_equal(after.num_samples, before.num_samples + 2);

	for (int i = 0; i < NUM_RANKS; i++)
		looks[i] = HANG_UNKNOWN;
	for (int i = 0; i < 1000; i++)
		hang_test_sample(test, hang_test_next(test), looks);
	hang_test_figures(test, &after);
	assert_int_equal(after.num_samples, before.num_samples + 2);
	assert_int_equal(hang_test_state(test), HANG_WATCHING);
	hang_test_destroy(test);
}

/* S_out stays low, but ranks of the set, or others, move. */
static void test_movement(void **state)
{
	static const struct {
		enum hang_look other;
		bool is_noted, is_hang;
	} cases[] = {
		{HANG_INSIDE, false, true},
		{HANG_INSIDE, true, false},
		{HANG_OUTSIDE, false, false},
		{HANG_POLLING, false, false},
	};

	(void)state;
	for (size_t c = 0; c < NUM_OF(cases); c++) {
		struct hang_test *test = start_test(NUM_RANKS);

		feed_healthy(test, 400, 0.3, 7);
		for (int s = 0; s < 1000 && hang_test_state(test) != HANG_CONFIRM; s++) {
			enum hang_look looks[NUM_RANKS] = {0};

			if (s % 5 == 0) {
				looks[3] = cases[c].other;
				if (cases[c].is_noted)
					hang_test_note_movement(test);
			}
			hang_test_sample(test, hang_test_next(test), looks);
		}
		assert_int_equal(hang_test_state(test) == HANG_CONFIRM, cases[c].is_hang);
		hang_test_destroy(test);
	}
}

/* One that asks in a loop whether a message has come does not move. */
static void test_busy_wait(void **state)
{
	struct hang_test *test = start_test(NUM_RANKS);

	(void)state;
	feed_healthy(test, 400, 0.3, 7);
	for (int s = 0; s < 100 && hang_test_state(test) != HANG_CONFIRM; s++) {
		enum hang_look looks[NUM_RANKS] = {0};

		looks[3] = s % 5 == 0 ? HANG_OUTSIDE : HANG_POLLING;
		hang_test_sample(test, hang_test_next(test), looks);
	}
	/* Whenever it is caught outside, S_out is not low; but nobody moves. */
	assert_int_equal(hang_test_state(test), HANG_CONFIRM);
	hang_test_destroy(test);
}

/* Ranks move from each look to the next, though S_out is what it always is; then nobody does. */
static void test_standstill(void **state)
{
	struct hang_test *test = start_test(NUM_RANKS);
	enum hang_look looks[NUM_RANKS];
	uint64_t since;

	(void)state;
	for (int i = 0; i < NUM_RANKS; i++)
		looks[i] = i % 2 ? HANG_OUTSIDE : HANG_INSIDE;
	for (int s = 0; s < 60; s++) {
		hang_test_note_movement(test);
		hang_test_sample(test, hang_test_next(test), looks);
		assert_int_not_equal(hang_test_state(test), HANG_CONFIRM);
	}
	since = hang_test_next(test);
	for (int s = 0; s < 100 && hang_test_state(test) != HANG_CONFIRM; s++)
		hang_test_sample(test, hang_test_next(test), looks);
	assert_int_equal(hang_test_state(test), HANG_CONFIRM);
	assert_in_range(hang_test_next(test) - since, SECONDS(11), SECONDS(14));
	/* After a slow-down of 12 s it takes far more. */
	hang_test_confirm(test, true);
	since = hang_test_next(test);
	for (int s = 0; s < 1000 && hang_test_state(test) != HANG_CONFIRM; s++)
		hang_test_sample(test, hang_test_next(test), looks);
	assert_true(hang_test_next(test) - since > SECONDS(60));
	hang_test_destroy(test);
}

/* A job of 4 ranks of which one computes nearly always: by its stack nobody ever moves. Steps get
 * longer all the time, up to a minute, and each of them is seen by what ranks have sent
 * (`is_counted`), or by nothing. Returns the seconds until it is taken for a hang, 0: never. */
static double feed_ever_slower(bool is_counted, double hours)
{
	struct hang_test *test = start_test(4);
	uint64_t start = hang_test_next(test), now = start, stepped = start;
	double step = 0.2, found = 0;

	while (!found && now - start < SECONDS(3600 * hours)) {
		enum hang_look looks[NUM_RANKS] = {0};
		size_t num;
		const int *ranks = hang_test_ranks(test, &num);

		for (size_t i = 0; i < num; i++)
			looks[i] = ranks[i] == 2 ? HANG_OUTSIDE : HANG_INSIDE;
		now = hang_test_next(test);
		if (now - stepped > SECONDS(step)) {
			if (is_counted)
				hang_test_note_movement(test);
			while (now - stepped > SECONDS(step))
				stepped += SECONDS(step);
			step = fmin(step * 1.05, 60);
		}
		hang_test_sample(test, now, looks);
		if (hang_test_state(test) == HANG_CONFIRM)
			found = (double)(now - start) / 1e9;
	}
	/* And then it hangs. */
	if (!found)
		assert_true(feed_hung(test, 2, HANG_CONFIRM) < 900);
	hang_test_destroy(test);
	return found;
}

static void test_ever_slower(void **state)
{
	(void)state;
	assert_true(feed_ever_slower(true, 10) == 0);
	assert_true(feed_ever_slower(false, 10) > 0);
}

static void test_refusals(void **state)
{
	static const struct {
		struct hang_settings settings;
		const char *text;
	} cases[] = {
		{{.num_ranks = 0, .alpha = 0.1}, "no ranks"},
		{{.num_ranks = 4, .alpha = 0}, "alpha"},
		{{.num_ranks = 4, .alpha = 0.6}, "alpha"},
		{{.num_ranks = 4, .alpha = NAN}, "alpha"},
	};

	(void)state;
	for (size_t c = 0; c < NUM_OF(cases); c++) {
		struct pdb_error err;

		assert_null(hang_test_create(&cases[c].settings, 0, &err));
		assert_error(&err, ERROR_USAGE, cases[c].text);
		assert_null(hang_test_create(&cases[c].settings, 0, NULL));
	}
}

/* 20 hours of a job whose S_out hangs together over seconds: no alarm. */
static void test_autocorrelated(void **state)
{
	struct hang_test *test = start_test(NUM_RANKS);
	uint64_t random = 5, until = 0;
	bool is_low = false;

	(void)state;
	while (hang_test_next(test) < SECONDS(72000)) {
		enum hang_look looks[NUM_RANKS] = {0};
		size_t num_looks;

		hang_test_ranks(test, &num_looks);
		while (until < hang_test_next(test)) {
			is_low = !is_low;
			until += SECONDS(-2 * log(1 - statistics_random_unit(&random)));
		}
		for (size_t i = 0; i < num_looks; i++)
			looks[i] = !is_low && i % 2 ? HANG_OUTSIDE : HANG_INSIDE;
		hang_test_sample(test, hang_test_next(test), looks);
		assert_int_not_equal(hang_test_state(test), HANG_CONFIRM);
	}
	hang_test_destroy(test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hang_is_found), cmocka_unit_test(test_culprit_in_a_set),
		cmocka_unit_test(test_sets),          cmocka_unit_test(test_steps),
		cmocka_unit_test(test_determinism),   cmocka_unit_test(test_clock_and_holes),
		cmocka_unit_test(test_movement),      cmocka_unit_test(test_busy_wait),
		cmocka_unit_test(test_standstill),    cmocka_unit_test(test_ever_slower),
		cmocka_unit_test(test_refusals),      cmocka_unit_test(test_autocorrelated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
