/* SPDX-License-Identifier: BSD-3-Clause
 * What print has found, for its views. */
#ifndef PDB_RENDER_PRINTED_H
#define PDB_RENDER_PRINTED_H

#include <stddef.h>
#include <stdint.h>

struct rankset;
struct value_groups;

struct printed {
	const char *expression;
	uint32_t
		node; /* frame of all that have it (job->callpaths); CALLPATH_NONE: several, or global */
	const char *type; /* "double"; NULL: nobody has it, or they differ */
	const struct value_groups *groups;
};

/* The variables of one function, and the ranks whose innermost frame it is. */
struct printed_function {
	const char *name; /* NULL: these have no such frame with debug information */
	struct rankset *ranks;
	struct printed *list;
	size_t num;
};

struct printed_locals {
	struct printed_function *functions;
	size_t num;
};

#endif
