/* SPDX-License-Identifier: BSD-3-Clause
 * Stack samples of two or three frames, made by hand. */
#ifndef PDB_TESTS_UNIT_STACK_SAMPLES_H
#define PDB_TESTS_UNIT_STACK_SAMPLES_H

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/sample.h"

#define LIBMPI "/lib/libmpi.so.40"
#define LIBC "/lib/libc.so.6"
#define APP "/bin/app"

/* A frame below the path, at an address that is the function's own. */
static inline uint32_t add_frame(struct job *job, uint32_t path, const char *module,
				 const char *function, bool is_return)
{
	struct name name = {.function = function, .is_symbol = true};
	uint64_t hash = 0;

	for (const char *c = function; *c; c++)
		hash = hash * 31 + (unsigned char)*c;
	path = callpaths_intern(job->callpaths, path, modules_intern(job->modules, module, NULL, 0),
				hash, is_return);
	names_set(job->names, path, &name);
	return path;
}

static inline void add_sample(struct job *job, int rank, char process_state, const char *module,
			      const char *function, uint64_t when)
{
	struct sample sample = {
		.rank = rank,
		.is_main = true,
		.state = process_state,
		.when_ns = when,
	};

	sample.path = add_frame(job, CALLPATH_NONE, APP, "main", true);
	sample.path = add_frame(job, sample.path, module, function, false);
	samples_add(job->samples, &sample);
}

/* The caller is the program's. */
static inline void add_call_sample(struct job *job, int rank, const char *caller,
				   const char *function)
{
	struct sample sample = {.rank = rank, .is_main = true, .state = 'R', .when_ns = 1};

	sample.path = add_frame(job, CALLPATH_NONE, APP, "main", true);
	sample.path = add_frame(job, sample.path, APP, caller, true);
	sample.path = add_frame(job, sample.path, LIBMPI, function, false);
	samples_add(job->samples, &sample);
}

#endif
