/* SPDX-License-Identifier: BSD-3-Clause
 * The traces of one job or two in one set, with the same symbol for what is the same in both. */
#ifndef PDB_ANALYSIS_TRACE_RUNS_H
#define PDB_ANALYSIS_TRACE_RUNS_H

#include <regex.h>

#include "analysis/traces/trace_match.h"
#include "analysis/traces/trace_set.h"

/* Which events count. Expressions, or NULL, match texts as "MPI_Send, halo() at solver.c:141". */
struct trace_filter {
	const regex_t *only, *without;
	bool is_mpi;           /* only MPI calls */
	bool is_communication; /* only those of them that wait for others or move data */
};

struct trace_runs_options {
	enum trace_detail detail;
	struct trace_filter filter;
	const struct rankset *ranks; /* of the first run, or of the only one; NULL: all */
	bool all_threads;            /* else each rank's main thread */
};

/* A thread that has a trace. */
struct trace_thread {
	uint32_t run;
	const struct traces_lane *lane; /* borrowed from the run's traces */
	int thread; /* 0 for the main thread, others are counted from 1 on in their rank */
};

/* What a symbol of the set is in each run; NULL: it does not occur there. Borrowed. */
struct trace_event {
	const struct traces_symbol *symbols[TRACE_MAX_RUNS];
};

struct trace_runs {
	struct trace_run runs[TRACE_MAX_RUNS];
	size_t num_runs;
	enum trace_detail detail;
	struct trace_set *set;
	struct trace_thread *threads; /* by run, rank, thread; their indexes are those in the set */
	size_t num_threads;
	struct trace_event *events; /* [num_events] by the set's symbols */
	uint32_t num_events;
};

/* The jobs and their traces are borrowed. It lives in the arena. */
struct trace_runs *trace_runs_create(struct arena *arena, const struct trace_run *runs,
				     size_t num_runs, const struct trace_runs_options *options);

/* The index of the trace; -1: there is none. */
ptrdiff_t trace_runs_find(const struct trace_runs *runs, uint32_t run, int rank, int thread);

#endif
