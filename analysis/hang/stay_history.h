/* SPDX-License-Identifier: BSD-3-Clause
 * How long something lasted so far (stays of ranks in a place, standstills of the job), and whether
 * the present one lasts too long.
 *
 * A healthy job may have so many false alarms an hour, and has so many stays an hour. This gives
 * the probability that a stay must have. The stay of that probability is longer than any seen. It
 * is extrapolated with the tail of a log-normal distribution through the longest stays (32, half of
 * all, or 8): ln t against normal quantiles is a straight line. Its slope is an upper bound (97.5
 * %), the larger of two: from the mean of ln t over these stays, about a sum of exponential
 * variables (as Hill's estimator, Annals of Statistics 1975), and from how far the longest stands
 * out, with Gumbel's distribution. The slope is at least 0.5. */
#ifndef PDB_ANALYSIS_STAY_HISTORY_H
#define PDB_ANALYSIS_STAY_HISTORY_H

#include "model/std.h"

enum { STAYS_KEPT = 32 };

/* Completed stays; all times in ns. Zeros: none yet. */
struct stay_history {
	uint64_t num;
	double longest[STAYS_KEPT]; /* descending; [least of num and STAYS_KEPT] */
	double watched;             /* time in which they were made, by all ranks side by side */
};

/* One has ended. Leaves `watched` alone. */
void stay_history_add(struct stay_history *history, double stay_ns);

/* How many stays per hour are at least stay_ns long in a healthy job. Stays below noise_ns
 * are taken to have lasted that long. INFINITY with fewer than 8, of which nothing follows. */
double stay_history_chance(const struct stay_history *history, double stay_ns, double noise_ns);

/* The shortest stay of chance alpha at most, and twice any before. INFINITY with fewer than 8. */
double stay_history_needed(const struct stay_history *history, double alpha, double noise_ns);

#endif
