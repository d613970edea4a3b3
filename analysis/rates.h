/* SPDX-License-Identifier: BSD-3-Clause
 * How fast the ranks of a moving job get on: ranks that are slower than the others all the time,
 * and a job that has become slower than it was. Both are notes, not alarms.
 *
 * Time is cut into windows. A rank is slow if in many windows in a row it did fewer iterations than
 * the median rank, or was outside MPI for longer, while the others waited: each has probability 1/2
 * at most in a job of equals (sign test), and in sum the difference has to be considerable. The job
 * is slow if each of the last windows had fewer iterations than all those before: of h + w windows
 * in any order these are the w smallest with probability 1 / (h + w choose w) (the extreme case of
 * Mann and Whitney's test). */
#ifndef PDB_ANALYSIS_RATES_H
#define PDB_ANALYSIS_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/hang_test.h"

struct pdb_error;

struct rates_settings {
	int num_ranks;
	double alpha;       /* chance of a statement: of a slow rank in sum over all ranks */
	uint64_t window_ns; /* doubled while most windows see no iteration */
	double least;       /* difference that counts: 0.2 is 20 % slower, or that much more of the
			     * time outside MPI */
};

/* alpha 0.001, windows of 1 s, least 0.2. */
void rates_settings_init(struct rates_settings *settings, int num_ranks);

struct rates_look {
	enum hang_look look;
	uint64_t iterations; /* ever made, of the loop that is watched; 0: not known */
};

struct slow_rank {
	int rank;
	bool is_behind; /* by iterations; otherwise the others wait for it */
	double ratio;   /* its iterations to the median rank's; otherwise how much more of the time
			 * than that one it is outside MPI */
	uint32_t num_windows; /* in a row */
};

struct rates_report {
	uint64_t window_ns;
	uint32_t num_windows; /* in the history, 64 at most */
	double rate, usual;   /* iterations per second of the median rank: in the last windows if
			       * these are slow, else in the last one; in those before. 0: unknown */
	bool is_slow_phase;
	uint32_t num_slow_windows;          /* of it */
	const struct slow_rank *slow_ranks; /* by rank; of the object, until the next look */
	size_t num_slow_ranks;
};

struct rates;

struct rates *rates_create(const struct rates_settings *settings, struct pdb_error *err);
void rates_destroy(struct rates *rates); /* NULL is fine */

/* looks[num_ranks] at now_ns. Between two looks a second at most counts, as in pace.h. Another loop
 * is another object. */
void rates_add(struct rates *rates, uint64_t now_ns, const struct rates_look *looks);

void rates_report(const struct rates *rates, struct rates_report *report_ret);

#endif
