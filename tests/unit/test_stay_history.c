/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "analysis/hang/statistics.h"
#include "analysis/hang/stay_history.h"
#include "tests/unit/unit.h"

static const double s = 1e9, hour = 3600e9, noise = 1e8;

static void assert_about(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-3 * fabs(expected)))
		fail_msg("%.6g is not %.6g", value, expected);
}

/* n stays, of which the longest are exp(slope * quantile) s. */
static struct stay_history make_history(uint64_t num, double slope)
{
	struct stay_history history = {.watched = hour};

	for (uint64_t i = 1; i <= num; i++)
		stay_history_add(
			&history,
			exp(slope * statistics_normal_upper((double)i / ((double)num + 1))) * s);
	return history;
}

static void test_add(void **state)
{
	struct stay_history history = {.num = 0};

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		stay_history_add(&history, (double)(i * 389 % 1000));
	assert_int_equal(history.num, 1000);
	for (size_t i = 0; i < STAYS_KEPT; i++)
		assert_true(history.longest[i] == (double)(999 - i));
}

static void test_chance(void **state)
{
	static const double top = 3.0905, wanted = 4.7534; /* of 1/1001 and of 1e-6 */
	struct stay_history few = make_history(7, 0), many = make_history(1000, 1);
	struct stay_history alike = make_history(1000, 0);
	double needed = stay_history_needed(&many, 0.001, noise), steep;

	(void)state;
	assert_true(isinf(stay_history_chance(&few, 40 * s, noise)));
	assert_true(isinf(stay_history_needed(&few, 0.001, noise)));
	/* What is no longer than before is no sign of anything. */
	assert_about(stay_history_chance(&many, exp(top) * s, noise), 1000);
	/* One is what the other says. */
	assert_about(log(stay_history_chance(&many, needed, noise)), log(0.001));
	/* Gumbel's bound is ln 32 / (ln 32 - 1.3053), the one of the mean 1 / 0.6793. */
	assert_about(log(needed / s), top + (wanted - top) * 1.6042);
	/* Never before twice the longest, nor with a slope below 0.5. */
	assert_about(stay_history_needed(&alike, 900, noise), 2 * s);
	assert_about(log(stay_history_needed(&alike, 0.001, noise) / s), (wanted - top) * 0.5);
	assert_about(stay_history_needed(&alike, 900, 3 * s), 6 * s);
	/* One that stands out makes the rest as uncertain as can be. */
	stay_history_add(&alike, 30 * s);
	steep = stay_history_needed(&alike, 0.001, noise);
	assert_true(steep > 10000 * s);
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
			struct stay_history history = {.num = 0};

			while (history.watched < 10 * hour) {
				double stay = draw(kind, &random) * s;

				num_alarms += history.watched > 60 * s &&
					      stay >= stay_history_needed(&history, alpha, noise);
				stay_history_add(&history, stay);
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
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_false_alarms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
