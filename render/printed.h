/* SPDX-License-Identifier: BSD-3-Clause
 * The results of print and locals, for their views. */
#pragma once

#include "model/base.h"

struct value_groups;

struct printed {
	const char *expression;
	/* The frame of all that have it (job->callpaths); CALLPATH_NONE: several, or global. */
	uint32_t node;
	const char *type; /* "double"; NULL: nobody has it, or they differ */
	const struct value_groups *groups;
};

/* The variables of one function, and the ranks whose innermost frame it is. */
struct printed_function {
	const char *name; /* NULL: these have no such frame with debug information, */
	const char *why;  /* for this reason */
	struct rankset *ranks;
	struct printed *list;
	size_t num;
};

struct printed_locals {
	bool are_arguments;
	struct printed_function *functions;
	size_t num;
};
