/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "analysis/hang/statistics.h"
#include "analysis/hang/stay_history.h"

static const double hour_ns = 3600e9, few_stays = 8, least_slope = 0.5;
/* Gumbel's and the standard normal distribution are below these with probability 2.5 %. */
static const double gumbel_low = -1.3053, normal_low = -1.96;
/* A stay is not too long before it is twice as long as any before, however many these were. */
static const double least_factor = 2;

void stay_history_add(struct stay_history *history, double stay_ns)
{
	size_t at = history->num < STAYS_KEPT ? (size_t)history->num : STAYS_KEPT;

	history->num++;
	if (at == STAYS_KEPT && stay_ns <= history->longest[--at])
		return;
	for (; at > 0 && history->longest[at - 1] < stay_ns; at--)
		history->longest[at] = history->longest[at - 1];
	history->longest[at] = stay_ns;
}

/* So many are the tail: half of them, or all of few. */
static size_t num_of_tail(const struct stay_history *history)
{
	if (history->num >= 2 * (uint64_t)STAYS_KEPT)
		return STAYS_KEPT;
	return history->num >= 2 * (uint64_t)few_stays ? (size_t)history->num / 2
						       : (size_t)few_stays;
}

static double log_stay(const struct stay_history *history, size_t which, double noise_ns)
{
	return log(fmax(history->longest[which], noise_ns));
}

/* The normal quantile that the stay with this place in the order stands at. */
static double quantile_of(const struct stay_history *history, size_t which)
{
	return statistics_normal_upper((double)(which + 1) / ((double)history->num + 1));
}

/* The 2.5 % quantile of a mean of `num` exponential variables of mean 1: chi-squared by Wilson and
 * Hilferty's approximation (1931). */
static double exponential_low(double num)
{
	double spread = 1 / (9 * num);

	return pow(1 - spread + normal_low * sqrt(spread), 3);
}

/* Upper bound of how much ln t grows by each unit of the normal quantile. */
static double slope_of(const struct stay_history *history, double noise_ns)
{
	size_t last = num_of_tail(history) - 1;
	double least = log_stay(history, last, noise_ns), from = quantile_of(history, last);
	double sum = 0, quantiles = 0, all = (double)last + 1, of_mean, of_longest;

	for (size_t i = 0; i < last; i++) {
		sum += log_stay(history, i, noise_ns) - least;
		quantiles += quantile_of(history, i) - from;
	}
	of_mean = sum / quantiles / exponential_low((double)last);
	of_longest = (log_stay(history, 0, noise_ns) - least) / (quantile_of(history, 0) - from) *
		     log(all) / (log(all) + gumbel_low);
	return fmax(fmax(of_mean, of_longest), least_slope);
}

static double per_hour(const struct stay_history *history)
{
	return (double)history->num / (history->watched / hour_ns);
}

static int is_enough(const struct stay_history *history)
{
	return (double)history->num >= few_stays && history->watched > 0;
}

double stay_history_chance(const struct stay_history *history, double stay_ns, double noise_ns)
{
	double above = log(stay_ns) - log_stay(history, 0, noise_ns);

	if (!is_enough(history))
		return INFINITY;
	if (!(above > 0))
		return per_hour(history);
	return per_hour(history) * statistics_normal_tail(quantile_of(history, 0) +
							  above / slope_of(history, noise_ns));
}

double stay_history_needed(const struct stay_history *history, double alpha, double noise_ns)
{
	double longest = exp(log_stay(history, 0, noise_ns)), quantile;

	if (!is_enough(history))
		return INFINITY;
	quantile = statistics_normal_upper(fmin(alpha / per_hour(history), 0.5));
	return longest * fmax(least_factor, exp((quantile - quantile_of(history, 0)) *
						slope_of(history, noise_ns)));
}
