/* SPDX-License-Identifier: BSD-3-Clause
 * The result of list, for its views. */
#pragma once

#include "model/base.h"

struct name;

/* A line that ranks are at. */
struct listed_place {
	uint32_t node;           /* in job->callpaths */
	const struct name *name; /* with file and line */
	struct rankset *ranks;
};

/* Lines of one source file. */
struct listed_part {
	const char *file;         /* as in the debug information */
	const char *path;         /* where it was found; NULL: it was not */
	const char *trouble;      /* why not; or what to know of the source; or NULL */
	const char *const *lines; /* all that it has */
	size_t num_lines;
	int first, last; /* of them, from 1 */
	/* Those that are in the lines, by line. */
	const struct listed_place *const *places;
	size_t num_places;
};

/* Ranks that no line is known of. */
struct listed_missing {
	const char *why;
	struct rankset *ranks;
};

struct listed {
	struct listed_part *parts; /* those with the most ranks first */
	size_t num, num_more;      /* left out */
	struct listed_missing *missing;
	size_t num_missing;
};
