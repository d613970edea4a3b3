/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hang_test.h"
#include "tests/unit/unit.h"

enum { MS = 1000000, NUM_RANKS = 64, MAX_SAMPLES = 100000 };

/* Feed samples in which `outside` of the ranks looked at are outside MPI until the state is
 * `until`; returns how many it took. */
static size_t feed(struct hang_test *test, size_t outside, enum hang_state until)
{
	size_t num_fed = 0;

	while (hang_test_state(test) != until && num_fed < MAX_SAMPLES) {
		enum hang_look looks[NUM_RANKS];
		size_t num;

		hang_test_ranks(test, &num);
		for (size_t i = 0; i < num; i++)
			looks[i] = i < outside ? HANG_OUTSIDE : HANG_INSIDE;
		hang_test_sample(test, hang_test_next(test), looks);
		num_fed++;
	}
	return num_fed;
}

static void feed_random(struct hang_test *test, size_t num_samples)
{
	uint64_t random = 7;

	for (size_t s = 0; s < num_samples; s++) {
		enum hang_look looks[NUM_RANKS];
		size_t num, outside;

		random = random * 6364136223846793005 + 1442695040888963407;
		hang_test_ranks(test, &num);
		outside = (random >> 33) % (num + 1);
		for (size_t i = 0; i < num; i++)
			looks[i] = i < outside ? HANG_OUTSIDE : HANG_INSIDE;
		hang_test_sample(test, hang_test_next(test), looks);
	}
}

static void test_hang_is_found(void **state)
{
	struct hang_settings settings;
	struct hang_figures figures;
	struct hang_test *test;

	(void)state;
	hang_settings_init(&settings, NUM_RANKS);
	test = hang_test_create(&settings, 5, NULL);
	assert_int_equal(hang_test_next(test), 5);
	assert_int_equal(hang_test_state(test), HANG_LEARNING);
	feed_random(test, 200);
	assert_int_not_equal(hang_test_state(test), HANG_LEARNING);
	assert_in_range(feed(test, 0, HANG_CONFIRM), 4, 40);
	hang_test_confirm(test, true);
	assert_int_not_equal(hang_test_state(test), HANG_FOUND);
	assert_in_range(feed(test, 0, HANG_CONFIRM), 8, 200);
	hang_test_confirm(test, false);
	assert_int_equal(hang_test_state(test), HANG_FOUND);
	hang_test_figures(test, &figures);
	assert_int_equal(figures.num_slowdowns, 1);
	assert_true(figures.num_low >= figures.needed);
	assert_true(figures.chance <= settings.alpha);
	hang_test_destroy(test);
	hang_test_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hang_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
