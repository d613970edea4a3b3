/* SPDX-License-Identifier: BSD-3-Clause
 * How long ranks stayed in a place so far, and whether a stay of now is too long for that.
 *
 * Of a distribution with a tail like t^-a, the next value exceeds c times the largest of n earlier
 * ones with probability c^-a / (n + 1), whatever its scale; lighter tails make that rarer. So a job
 * whose longest stay in T hours was L has stays longer than x about (x / L)^-a / T times per hour:
 * that is the statistic here. How heavy the tail is shows in how far the longest stands out of the
 * mean: of a Pareto distribution a ln(longest / mean) - ln n has Gumbel's distribution about, from
 * whose 2.5 % quantile a lower bound of a follows. It is not trusted to be above 4. */
#ifndef PDB_ANALYSIS_STAYS_H
#define PDB_ANALYSIS_STAYS_H

#include <stdint.h>

/* Completed stays; all times in ns. */
struct stay_history {
	uint64_t num;
	double longest, total; /* total 0: not known */
	double watched;        /* time in which they were made, by all ranks side by side */
};

/* The index a of the tail above `noise_ns`: 1 to 4; 4 if no stay was longer than that, otherwise at
 * most 2 with fewer than 30 stays or an unknown total. */
double stay_history_tail(const struct stay_history *history, double noise_ns);

/* How many stays per hour are at least stay_ns long in a healthy job. At most `noise_ns` is no sign
 * of anything: earlier stays are taken to have lasted that long. INFINITY without any history. */
double stay_history_chance(const struct stay_history *history, double stay_ns, double noise_ns);

/* The shortest stay whose chance is at most alpha; INFINITY without any history. */
double stay_history_needed(const struct stay_history *history, double alpha, double noise_ns);

#endif
