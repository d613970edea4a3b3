/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "analysis/hang/statistics.h"

enum { HALVINGS = 60, MAX_TERMS = 100000 };

static const double precision = 1e-14;

/* Regularized lower incomplete gamma function P(a, x) (Abramowitz and Stegun 6.5.29). */
static double gamma_lower(double a, double x)
{
	double term = 1, sum = 1;

	if (x <= 0)
		return 0;
	for (int n = 1; n < MAX_TERMS && term > sum * precision; n++) {
		term *= x / (a + n);
		sum += term;
	}
	return sum * exp(a * log(x) - x - lgamma(a + 1));
}

/* Sums whichever side is away from the mean, where probabilities get smaller and smaller. */
double statistics_binomial_tail(uint64_t successes, uint64_t trials, double p)
{
	double n = (double)trials, k = (double)successes, sum = 0, term;
	bool is_above = k > n * p;

	if (!successes || successes > trials || p <= 0 || p >= 1)
		return !successes || (successes <= trials && p >= 1);
	k -= !is_above;
	term = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
		   (n - k) * log1p(-p));
	while (term > sum * precision) {
		sum += term;
		term *= is_above ? (n - k) / (k + 1) * p / (1 - p) : k / (n - k + 1) * (1 - p) / p;
		k += is_above ? 1 : -1;
	}
	return is_above ? sum : 1 - sum;
}

double statistics_binomial_upper(uint64_t successes, uint64_t trials, double confidence)
{
	double low = 0, high = 1;

	if (successes >= trials)
		return 1;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (statistics_binomial_tail(successes + 1, trials, middle) < confidence)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double statistics_poisson_upper(uint64_t events, double confidence)
{
	double low = 0, high = 2 * (double)events + 1;

	while (gamma_lower((double)events + 1, high) < confidence)
		high *= 2;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (gamma_lower((double)events + 1, middle) < confidence)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double statistics_normal_tail(double z)
{
	return erfc(z * M_SQRT1_2) / 2;
}

/* Abramowitz and Stegun 26.2.23: to 0.00045. */
double statistics_normal_upper(double p)
{
	double t = sqrt(-2 * log(p < 0.5 ? p : 1 - p));
	double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
			       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));

	return p < 0.5 ? z : -z;
}

static double log_choose(uint32_t n, uint32_t k)
{
	return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

/* Probability of that many runs of a and b values in random order (Wald and Wolfowitz 1940). */
static double runs_probability(uint32_t a, uint32_t b, uint32_t runs)
{
	uint32_t half = runs / 2;
	double all = log_choose(a + b, a);

	if (half > a || half > b)
		return 0;
	if (runs % 2 == 0)
		return 2 * exp(log_choose(a - 1, half - 1) + log_choose(b - 1, half - 1) - all);
	return (half < a ? exp(log_choose(a - 1, half) + log_choose(b - 1, half - 1) - all) : 0) +
	       (half < b ? exp(log_choose(a - 1, half - 1) + log_choose(b - 1, half) - all) : 0);
}

/* The largest number of runs that is too small, and the smallest that is too large, each with
 * probability level/2 at most; 1, and 1 more than possible, if no number is. */
static void runs_bounds(struct runs_test *test, double level)
{
	uint32_t a = test->num_below, b = test->num_above;
	uint32_t most = a == b ? 2 * a : 2 * (a < b ? a : b) + 1;
	double sum = 0;

	test->too_few = 1;
	for (uint32_t runs = 2; runs <= most; runs++) {
		sum += runs_probability(a, b, runs);
		if (sum > level / 2)
			break;
		test->too_few = runs;
	}
	sum = 0;
	test->too_many = most + 1;
	for (uint32_t runs = most; runs >= 2; runs--) {
		sum += runs_probability(a, b, runs);
		if (sum > level / 2)
			break;
		test->too_many = runs;
	}
}

struct runs_test statistics_runs_test(const uint8_t *values, size_t num, double level)
{
	struct runs_test test = {0};
	uint64_t sum = 0;
	bool was_above = false;

	for (size_t i = 0; i < num; i++)
		sum += values[i];
	for (size_t i = 0; i < num; i++) {
		bool is_above = values[i] * (uint64_t)num >= sum;

		test.num_above += is_above;
		test.num_below += !is_above;
		test.num_runs += !i || is_above != was_above;
		was_above = is_above;
	}
	test.is_decided = test.num_below > 1 && test.num_above > 1;
	if (!test.is_decided)
		return test;
	runs_bounds(&test, level);
	test.is_random = test.num_runs > test.too_few && test.num_runs < test.too_many;
	return test;
}

uint64_t statistics_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

double statistics_random_unit(uint64_t *state)
{
	return (double)(statistics_random(state) >> 11) * 0x1p-53;
}
