/* SPDX-License-Identifier: BSD-3-Clause
 * The calls that recorder_bench measures: rounds of calls that a rank can do alone. */
#ifndef PDB_BENCH_RECORDER_BENCH_H
#define PDB_BENCH_RECORDER_BENCH_H

struct measured {
	const char *name;
	int num_calls;    /* of MPI, in one run */
	int num_requests; /* that each of them is about, where all are about many; else 0 */
	void (*run)(void);
};

extern const struct measured all_measured[];
extern const int num_measured;

/* What the calls use; MPI is initialized. */
void measured_begin(void);
void measured_end(void);

#endif
