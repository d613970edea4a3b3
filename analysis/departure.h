/* SPDX-License-Identifier: BSD-3-Clause
 * Where a rank left its course: a call that it had never made after the calls before it, though it had come by
 * these often. A model that knows one call back (verdict_find_novel()) does not see this where each step
 * by itself is usual: one of six exchanges that look alike goes without its send.
 *
 * The model here is a Markov chain of variable memory (J. Rissanen, "A universal data compression
 * system", IEEE Trans. Inf. Theory 29(5), 1983; D. Ron, Y. Singer, N. Tishby, "The power of amnesia",
 * Machine Learning 25, 1996), of the rank's own last calls: as much memory as it takes to say what comes
 * next. A call is new after more memory only if, were that no matter, it would have come several times by now;
 * a rank that does new things time and again has no course. */
#ifndef PDB_ANALYSIS_DEPARTURE_H
#define PDB_ANALYSIS_DEPARTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DEPARTURE_MIN_CALLS = 512,  /* of fewer nobody knows what is usual */
	DEPARTURE_MAX_CALLS = 4096, /* the last ones are looked at */
	DEPARTURE_WINDOW = 64,	    /* calls back that count: a rank may go on for a while */
	DEPARTURE_CLEAN = 64,	    /* calls before that in which there must be no departure */
	DEPARTURE_MEMORY = 256,	    /* calls before a call that are compared, at most */
	DEPARTURE_OFTEN = 20,	    /* times that it must have come by the same calls */
	DEPARTURE_EXPECTED = 7,	    /* times that it would have been made, were more memory than one call no matter */
	DEPARTURE_SELDOM = 4, /* what followed fewer times than that may as well be the first of many kinds */
};

enum course {
	COURSE_KEPT,
	COURSE_LEFT,	/* once, of late, and kept before */
	COURSE_UNKNOWN, /* too few calls, or none is kept */
};

struct departure {
	size_t since;	   /* calls made after the one that was new there */
	uint32_t last;	   /* the call before it */
	uint32_t call;	   /* itself */
	uint32_t usual;	   /* what used to follow, mostly */
	size_t num_usual;  /* so often */
	size_t num_times;  /* of so many times */
	size_t num_memory; /* after the same calls, so many */
};

/* Has the rank left its course, by its calls[num], oldest first? If so, where in *ret: the earliest of the
 * departures. Takes some 400 times DEPARTURE_MAX_CALLS steps. */
enum course departure_find(const uint32_t *calls, size_t num, struct departure *ret);

#endif
