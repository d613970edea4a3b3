/* SPDX-License-Identifier: BSD-3-Clause
 * Which symbols of the traces of two jobs are the same, so that runs of different builds can be
 * compared. A call is identified by the call sites on its way from main(). In code with the same
 * build-id in both jobs, equal offsets are the same. Other call sites are matched in each function
 * by what they call and by line: first those whose line has moved as far as most, then, between
 * these, calls in the same order. */
#ifndef PDB_ANALYSIS_TRACE_MATCH_H
#define PDB_ANALYSIS_TRACE_MATCH_H

#include "model/job/traces.h"
#include "model/std.h"

/* How much of a call's place makes it another one. */
enum trace_detail {
	TRACE_BY_PATH,     /* the call sites of all functions on the way */
	TRACE_BY_LINE,     /* the call site in the innermost function of the program's own code */
	TRACE_BY_FUNCTION, /* that function */
	TRACE_BY_CALL,     /* only what is called */
};

/* A job that is traced. */
struct trace_run {
	const struct job *job; /* its names may have to be looked up */
	const struct traces *traces;
};

enum { TRACE_MAX_RUNS = 2 };

/* numbers[r][s]: of symbol s of run r, equal for equal ones; in the arena. Returns how many. */
uint32_t trace_match(struct arena *arena, const struct trace_run *runs, size_t num_runs,
		     enum trace_detail detail, uint32_t **numbers);

#endif
