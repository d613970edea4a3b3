/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "analysis/statistics.h"
#include "analysis/stays.h"
#include "tests/unit/unit.h"

static const double s = 1e9, hour = 3600e9, noise = 1e8;

static void assert_about(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-3 * fabs(expected)))
		fail_msg("%.6g is not %.6g", value, expected);
}

static void test_tail(void **state)
{
	static const struct {
		uint64_t num;
		double longest_s, total_s, expected;
	} cases[] = {
		{1000, 0.1, 50, 4},   /* nothing above noise */
		{10, 3, 20, 2},       /* too few to tell */
		{1000, 3, 0, 2},      /* total unknown */
		{1000, 1.5, 1000, 4}, /* all alike */
		/* (ln 1000 - 1.3053) / ln 30 */
		{1000, 6, 200, (6.907755 - 1.3053) / 3.401197},
		/* Mean 1 ms: 100 s make 1000 above noise at most. */
		{100000, 3, 100, (6.907755 - 1.3053) / 3.401197},
		{30, 1000, 30, 1}, /* heavier than a mean exists for */
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct stay_history history = {cases[i].num, cases[i].longest_s * s,
					       cases[i].total_s * s, hour};

		assert_about(stay_history_tail(&history, noise), cases[i].expected);
	}
}

static void test_chance(void **state)
{
	struct stay_history history = {99, 3 * s, 0, 2 * hour}, none = {0, 0, 0, hour};

	(void)state;
	assert_true(isinf(stay_history_chance(&none, 40 * s, noise)));
	assert_true(isinf(stay_history_needed(&none, 0.001, noise)));
	assert_about(stay_history_chance(&history, 3 * s, noise), 99 / 2.0);
	/* The record of 2 hours, ten times. */
	assert_about(stay_history_chance(&history, 30 * s, noise), 0.99 / 2 / 100);
	assert_about(stay_history_needed(&history, 0.99 / 2 / 100, noise), 30 * s);
	/* Never before twice the longest. */
	assert_about(stay_history_needed(&history, 0.4, noise), 6 * s);
	history.longest = 1;
	assert_about(stay_history_needed(&history, 0.4, noise), 2 * noise);
}

/* Series of stays of several kinds: how often per hour is one longer than what is needed? */
enum kind { UNIFORM, EXPONENTIAL, LOGNORMAL, PARETO, NUM_KINDS };

static double draw(enum kind kind, uint64_t *random)
{
	double u = 1 - statistics_random_unit(random), v = statistics_random_unit(random);

	switch (kind) {
	case UNIFORM:
		return 2 * u;
	case EXPONENTIAL:
		return -log(u);
	case LOGNORMAL:
		return exp(sqrt(-2 * log(u)) * cos(6.283185307 * v) - 0.5);
	default: /* index 2.5, mean 1 */
		return 0.6 * pow(u, -0.4);
	}
}

static void test_false_alarms(void **state)
{
	static const double alpha = 0.05;

	(void)state;
	for (enum kind kind = UNIFORM; kind < NUM_KINDS; kind++) {
		uint64_t random = kind;
		double hours = 0;
		size_t num_alarms = 0;

		for (int job = 0; job < 200; job++) {
			struct stay_history history = {0};

			while (history.watched < 10 * hour) {
				double stay = draw(kind, &random) * s;

				num_alarms += history.watched > 60 * s &&
					      stay >= stay_history_needed(&history, alpha, noise);
				history.num++;
				history.longest = fmax(history.longest, stay);
				history.total += stay;
				history.watched += stay;
			}
			hours += history.watched / hour;
		}
		if ((double)num_alarms > alpha * hours)
			fail_msg("kind %d: %zu alarms in %.0f hours", kind, num_alarms, hours);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_false_alarms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
