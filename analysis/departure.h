/* SPDX-License-Identifier: BSD-3-Clause
 * Where a rank left its course: a call that it had never made after the calls before it, though it had come by
 * these often. A model that knows one call back (verdict_find_novel()) does not see this where each step
 * by itself is usual: one of six exchanges that look alike goes without its send.
 *
 * The model here is a Markov chain of variable memory (J. Rissanen, "A universal data compression
 * system", IEEE Trans. Inf. Theory 29(5), 1983; D. Ron, Y. Singer, N. Tishby, "The power of amnesia",
 * Machine Learning 25, 1996), of the rank's own last calls: as much memory as it takes to say what comes
 * next, and only where that was seen often. A rank that does new things time and again has no course. */
#ifndef PDB_ANALYSIS_DEPARTURE_H
#define PDB_ANALYSIS_DEPARTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DEPARTURE_MIN_CALLS = 512, /* of fewer nobody knows what is usual */
	DEPARTURE_WINDOW = 64,	   /* calls back that are looked at: a rank may go on for a while */
	DEPARTURE_CLEAN = 64,	   /* calls before that in which there must be no departure */
	DEPARTURE_MEMORY = 8,	   /* calls before a call that are compared, at most */
	DEPARTURE_OFTEN = 10,	   /* times that it must have come by the same calls */
};

struct departure {
	size_t at;	   /* index of the call that was new there */
	uint32_t last;	   /* the call before it */
	uint32_t call;	   /* itself */
	uint32_t usual;	   /* what used to follow, mostly */
	size_t num_usual;  /* so often */
	size_t num_times;  /* of so many times */
	size_t num_memory; /* after the same calls, so many */
};

/* The earliest departure in calls[num], oldest first, if the rank has left its course in the last
 * DEPARTURE_WINDOW of them and kept to it before. Takes some hundred times num steps, at most. */
bool departure_find(const uint32_t *calls, size_t num, struct departure *ret);

#endif
