/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "analysis/stays.h"

static const double hour_ns = 3600e9, lightest_tail = 4, heaviest_tail = 1, doubtful_tail = 2,
		    few_stays = 30;
/* Gumbel's distribution is below it with probability 2.5 %. */
static const double gumbel_low = -1.3053;
/* A stay is not too long before it is twice as long as any before, however long these were watched.
 */
static const double least_factor = 2;

double stay_history_tail(const struct stay_history *history, double noise_ns)
{
	double num = (double)history->num, mean = history->total / num, spread;

	if (history->longest <= noise_ns)
		return lightest_tail;
	if (num < few_stays || history->total <= 0)
		return doubtful_tail;
	/* Only those above noise count: at most total / noise of them (Markov's inequality). */
	if (mean < noise_ns) {
		num = fmax(history->total / noise_ns, 1);
		mean = noise_ns;
	}
	spread = log(fmax(history->longest / mean, 1));
	if (spread <= 0)
		return lightest_tail;
	return fmin(fmax((log(num) + gumbel_low) / spread, heaviest_tail), lightest_tail);
}

/* How often per hour the longest is exceeded. */
static double record_rate(const struct stay_history *history)
{
	double num = (double)history->num;

	return num / (num + 1) / (history->watched / hour_ns);
}

double stay_history_chance(const struct stay_history *history, double stay_ns, double noise_ns)
{
	double longest = fmax(history->longest, noise_ns);

	if (!history->num || history->watched <= 0)
		return INFINITY;
	if (stay_ns <= longest)
		return (double)history->num / (history->watched / hour_ns);
	return record_rate(history) * pow(stay_ns / longest, -stay_history_tail(history, noise_ns));
}

double stay_history_needed(const struct stay_history *history, double alpha, double noise_ns)
{
	double longest = fmax(history->longest, noise_ns);

	if (!history->num || history->watched <= 0)
		return INFINITY;
	return longest * fmax(least_factor, pow(record_rate(history) / alpha,
						1 / stay_history_tail(history, noise_ns)));
}
