/* SPDX-License-Identifier: BSD-3-Clause
 * Slow ranks and slow phases of a job that moves: ranks that the others wait for all the time, and
 * a job that has become slower. Both are notes, not alarms.
 *
 * Time is cut into windows.
 *
 * A rank is slow if it was outside MPI longer than the median rank in too many of the last 24
 * windows for chance, and considerably so in sum. Among equal ranks each window has probability 1/2
 * at most (sign test). Counts of transitions are not used: ranks in step make equal numbers, and
 * some always make more.
 *
 * The job is slow if in each of the last w windows the median rank made fewer transitions than in
 * each of the h before, and the ranks are where they were before, so that it is no other phase. In
 * any order the w smallest of h + w come last with probability 1 / (h + w choose w) (the extreme
 * case of Mann and Whitney's test). The job stays slow until it is as fast as it was then, or
 * somewhere else: fast windows are forgotten after 64. */
#ifndef PDB_ANALYSIS_RATES_H
#define PDB_ANALYSIS_RATES_H

#include "analysis/hang/pace.h"

struct slow_rank {
	int rank;
	double outside, usual; /* shares of time outside MPI: its, and the median rank's */
	double seconds;        /* for so long */
};

struct rates_report {
	/* Transitions per second of the median rank: in the last windows if these are slow, else in
	 * the last one; in those before, or before the job was slow. 0: unknown. */
	double rate, usual;
	bool is_slow_phase;
	double slow_seconds;                /* for so long, when that was found */
	bool is_elsewhere;                  /* the ranks are not where they were before */
	const struct slow_rank *slow_ranks; /* by rank; of the object, until the next look */
	size_t num_slow_ranks;
	bool are_compared;    /* of so many windows that a slow rank would be among these */
	uint64_t num_windows; /* that have ended; what is reported changes with them only */
};

struct rates;

/* alpha: chance of a statement, of a slow rank in sum over all ranks. NULL: ERROR_USAGE. */
struct rates *rates_create(int num_ranks, double alpha, struct pdb_error *err);
void rates_destroy(struct rates *rates); /* NULL is fine */

/* looks[num_ranks] at now_ns, some times in each window of a second, which is doubled while most
 * windows see no transition. Between two looks a second at most counts, as in pace.h. */
void rates_add(struct rates *rates, uint64_t now_ns, const struct pace_look *looks);

void rates_report(const struct rates *rates, struct rates_report *report_ret);

#endif
