/* SPDX-License-Identifier: BSD-3-Clause
 * What is traced: PDB_TRACE_FILTER, a list of words with commas between them.
 *
 *	mpi		no functions of the program
 *	comm		of MPI's only what communicates or waits for it
 *	depth=N		of functions within functions the outer N levels; main is 1
 *	lib=PATTERN	functions of libraries or programs of that file name
 *	PATTERN		calls and functions of that name, as in the symbol table
 *	!...		not these
 *
 * Patterns have * and ?. What has a pattern for it is traced if one of them fits, and none that is
 * against it. */
#pragma once

#include <limits.h>

#include "model/recorder/base.h"

enum { TRACE_FILTER_PATTERNS = 64, TRACE_FILTER_TEXT = 2048 };

struct trace_pattern {
	const char *text;
	bool is_against, is_library;
};

struct trace_filter {
	bool mpi_only, communication_only;
	int max_depth; /* INT_MAX: any */
	struct trace_pattern patterns[TRACE_FILTER_PATTERNS];
	unsigned num_patterns;
	char text[TRACE_FILTER_TEXT]; /* what the patterns point into */
};

/* NULL is "". What does not fit in the limits, or is no number, is left out; pdb run says so. */
void trace_filter_parse(struct trace_filter *filter, const char *text);

/* Are calls of an MPI function traced? class_id: enum seg_class */
bool trace_filter_has_call(const struct trace_filter *filter, const char *name, uint16_t class_id);
/* A function of the program; name NULL: not known, then nothing is for or against it. */
bool trace_filter_has_function(const struct trace_filter *filter, const char *name,
			       const char *library);
/* Does anything depend on the names of functions? */
bool trace_filter_needs_names(const struct trace_filter *filter);
