/* SPDX-License-Identifier: BSD-3-Clause
 * How fast the ranks of a moving job get on: ranks that the others wait for all the time, and a job
 * that has become slower than it was. Both are notes, not alarms.
 *
 * Time is cut into windows. A rank is slow if in too many of the last 24 windows for chance it was
 * outside MPI for longer than the median rank, each of which has probability 1/2 at most in a job
 * of equals (sign test), and in sum the difference has to be considerable. Counts of transitions
 * tell nothing of that: in step with each other all ranks make as many, and some always more than
 * others. The job is slow if in each of the last windows the median rank made fewer transitions
 * than in all those before: of h + w windows in any order these are the w smallest with probability
 * 1 / (h + w choose w) (the extreme case of Mann and Whitney's test); and if the ranks are where
 * they were before, too, so that it is not just another phase. It stays slow, however long, until
 * it is as fast as it was then or somewhere else: what was fast is forgotten after 64 windows. */
#ifndef PDB_ANALYSIS_RATES_H
#define PDB_ANALYSIS_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/hang/hang_test.h"

struct rates_look {
	enum hang_look look;
	uint64_t moves; /* transitions ever made */
	uint64_t place; /* the same number in all ranks that are there */
};

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
void rates_add(struct rates *rates, uint64_t now_ns, const struct rates_look *looks);

void rates_report(const struct rates *rates, struct rates_report *report_ret);

#endif
