/* SPDX-License-Identifier: BSD-3-Clause
 * Statistics for hangs. They are exact, since samples are few when they matter most. */
#ifndef PDB_ANALYSIS_STATISTICS_H
#define PDB_ANALYSIS_STATISTICS_H

#include "model/std.h"

/* The largest probability of success that is still compatible with `successes` out of `trials`
 * (Clopper and Pearson 1934, one-sided): with a larger one so few are seen with a probability below
 * 1 - confidence. 1 if trials is 0 or all succeeded. */
double statistics_binomial_upper(uint64_t successes, uint64_t trials, double confidence);

/* The same for the mean number of events of a Poisson process, of which `events` were seen. */
double statistics_poisson_upper(uint64_t events, double confidence);

/* Probability of at least `successes` out of `trials`, each with probability p. */
double statistics_binomial_tail(uint64_t successes, uint64_t trials, double p);

/* Probability that a standard normal variable is above z, and z for 0 < p < 1, to 0.00045. */
double statistics_normal_tail(double z);
double statistics_normal_upper(double p);

struct runs_test {
	uint32_t num_below, num_above; /* values smaller than the mean, and the others */
	uint32_t num_runs;             /* maximal stretches of one of both kinds */
	uint32_t too_few, too_many;    /* num_runs has to lie between them, exclusively */
	bool is_decided;               /* both kinds are there at least twice */
	bool is_random;                /* decided, and num_runs lies between */
};

/* Wald and Wolfowitz's runs test for randomness at significance `level`, two-sided, with the exact
 * distribution that Swed and Eisenhart tabulated (1943). Equal values belong to `above`. */
struct runs_test statistics_runs_test(const uint8_t *values, size_t num, double level);

/* Numbers that are the same for the same seed (SplitMix64: Steele, Lea, Flood, OOPSLA 2014). */
uint64_t statistics_random(uint64_t *state);
double statistics_random_unit(uint64_t *state); /* in [0, 1) */

#endif
