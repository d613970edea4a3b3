/* SPDX-License-Identifier: BSD-3-Clause
 * Where a rank left its course: a call that neither it nor another rank ever made after the calls
 * before it, though they had come by these often. verdict_find_novel() knows one call back. It does
 * not see a departure in which each step by itself is usual: a loop that ends after 152 of 160
 * rounds.
 *
 * The model is a Markov chain of variable memory (J. Rissanen, "A universal data compression
 * system", IEEE Trans. Inf. Theory 29(5), 1983; D. Ron, Y. Singer, N. Tishby, "The power of
 * amnesia", Machine Learning 25, 1996) of the last calls of ranks that run the same program. It
 * uses as much memory as it takes to say what comes next. A call counts as new after more memory
 * only if chance would have brought it several times by now. A rank that does new things again and
 * again has no course. */
#ifndef PDB_ANALYSIS_DEPARTURE_H
#define PDB_ANALYSIS_DEPARTURE_H

#include <stdbool.h>
#include "analysis/verdict/call_contexts.h"

enum { DEPARTURE_MAX_CALLS = 4096 }; /* the last ones are looked at */

enum course {
	COURSE_KEPT,
	COURSE_LEFT,    /* of late, and kept before */
	COURSE_UNKNOWN, /* too few calls, or none is kept */
};

struct departure {
	size_t since;      /* calls made after the one that was new there */
	uint32_t last;     /* the call before it */
	uint32_t call;     /* itself */
	uint32_t usual;    /* what used to follow, mostly */
	size_t num_usual;  /* so often */
	size_t num_times;  /* of so many times */
	size_t num_own;    /* times that the rank itself had come by there */
	size_t num_memory; /* after the same calls, so many */
};

/* What counts as a departure. */
struct departure_limits {
	size_t window;   /* it was so few calls ago: a rank may go on for a while */
	double expected; /* times that it would have been made, did memory not matter */
	bool is_only;    /* of a lane with another one before it nothing is said */
};

/* Has the lane left its course? *ret: its first departure with enough of a kept course before. */
enum course departure_find(const struct call_contexts *c, size_t lane,
			   const struct departure_limits *limits, struct departure *ret);
/* Did any lane make such a step at another time, after as many of the same calls? */
bool departure_is_known(const struct call_contexts *c, size_t lane,
			const struct departure *departure);

#endif
