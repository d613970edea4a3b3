/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/hang/statistics.h"

static void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.10g is not %.10g", value, expected);
}

/* Solved by bisection of the sum of binomial terms. */
static void test_binomial_upper(void **state)
{
	static const struct {
		uint64_t successes, trials;
		double confidence, expected;
	} cases[] = {
		{0, 0, 0.975, 1},           {3, 3, 0.975, 1},
		{0, 1, 0.975, 0.975},       {0, 10, 0.975, 0.30849710781876},
		{0, 86, 0.975, 0.0419867},  {1, 10, 0.975, 0.44501611702},
		{5, 10, 0.975, 0.81291359}, {50, 100, 0.95, 0.586378},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_near(statistics_binomial_upper(cases[i].successes, cases[i].trials,
						      cases[i].confidence),
			    cases[i].expected, 1e-4);
}

static void test_binomial_tail(void **state)
{
	(void)state;
	assert_near(statistics_binomial_tail(0, 5, 0.1), 1, 0);
	assert_near(statistics_binomial_tail(6, 5, 0.1), 0, 0);
	assert_near(statistics_binomial_tail(1, 5, 0.5), 1 - 1 / 32.0, 1e-12);
	assert_near(statistics_binomial_tail(3, 5, 0.5), 0.5, 1e-12);
	assert_near(statistics_binomial_tail(5, 5, 0.1), 1e-5, 1e-17);
	assert_near(statistics_binomial_tail(20, 100000, 1e-4), 0.003454, 1e-5);
}

/* Half the quantiles of chi-squared with 2 (events + 1) degrees of freedom. */
static void test_poisson_upper(void **state)
{
	(void)state;
	assert_near(statistics_poisson_upper(0, 0.975), 3.68888, 1e-5);
	assert_near(statistics_poisson_upper(5, 0.975), 11.66833, 1e-5);
	assert_near(statistics_poisson_upper(100, 0.95), 118.0790, 1e-3);
	assert_near(statistics_poisson_upper(1000000, 0.975), 1001962, 2);
}

/* Critical values of Swed and Eisenhart's tables for 2.5 % on either side. */
static void test_runs_bounds(void **state)
{
	static const struct {
		uint32_t below, above, too_few, too_many;
	} cases[] = {
		{2, 2, 1, 5}, /* no number of runs is significant */
		{5, 5, 2, 10},   {7, 9, 4, 14},    {8, 8, 4, 14},
		{10, 10, 6, 16}, {12, 20, 10, 22}, {20, 20, 14, 28},
	};
	uint8_t values[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct runs_test test;

		memset(values, 0, cases[i].below);
		memset(values + cases[i].below, 9, cases[i].above);
		test = statistics_runs_test(values, cases[i].below + cases[i].above, 0.05);
		assert_true(test.is_decided);
		assert_int_equal(test.num_runs, 2);
		assert_int_equal(test.too_few, cases[i].too_few);
		assert_int_equal(test.too_many, cases[i].too_many);
	}
}

/* The sequence of ParaStack's section 3.1. */
static void test_worked_example(void **state)
{
	static const uint8_t s_out[] = {2, 1, 1, 2, 1, 1, 0, 0, 8, 9, 10, 8, 9, 1, 9, 9};
	struct runs_test test = statistics_runs_test(s_out, sizeof(s_out), 0.05);

	(void)state;
	assert_int_equal(test.num_below, 9);
	assert_int_equal(test.num_above, 7);
	assert_int_equal(test.num_runs, 4);
	assert_int_equal(test.too_few, 4);
	assert_int_equal(test.too_many, 14);
	assert_true(test.is_decided);
	assert_false(test.is_random);
}

static void test_runs_refusals(void **state)
{
	static const uint8_t same[] = {3, 3, 3, 3}, one[] = {0, 9, 9, 9, 9},
			     mixed[] = {0, 9, 9, 0, 9, 0, 0, 9, 0, 9, 9, 9, 0, 0, 9, 0};

	(void)state;
	assert_false(statistics_runs_test(NULL, 0, 0.05).is_decided);
	assert_false(statistics_runs_test(same, sizeof(same), 0.05).is_decided);
	assert_int_equal(statistics_runs_test(same, sizeof(same), 0.05).num_above, 4);
	assert_false(statistics_runs_test(one, sizeof(one), 0.05).is_decided);
	assert_true(statistics_runs_test(mixed, sizeof(mixed), 0.05).is_random);
}

static void test_random(void **state)
{
	uint64_t a = 0, b = 0, c = 1;
	double sum = 0;

	(void)state;
	/* First output of SplitMix64 for seed 0. */
	assert_int_equal(statistics_random(&a), 0xe220a8397b1dcdaf);
	statistics_random(&b);
	statistics_random(&c);
	assert_int_equal(statistics_random(&a), statistics_random(&b));
	assert_int_not_equal(statistics_random(&b), statistics_random(&c));
	for (int i = 0; i < 10000; i++) {
		double unit = statistics_random_unit(&c);

		assert_true(unit >= 0 && unit < 1);
		sum += unit;
	}
	assert_near(sum / 10000, 0.5, 0.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_binomial_upper), cmocka_unit_test(test_binomial_tail),
		cmocka_unit_test(test_poisson_upper),  cmocka_unit_test(test_runs_bounds),
		cmocka_unit_test(test_worked_example), cmocka_unit_test(test_runs_refusals),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
