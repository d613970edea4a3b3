/* SPDX-License-Identifier: BSD-3-Clause
 * A job with traces, from text: calls are named by letters, traces are what trace_text.h reads. */
#ifndef PDB_TESTS_UNIT_TRACED_RUN_H
#define PDB_TESTS_UNIT_TRACED_RUN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/traces/trace_match.h"
#include "model/arena.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/traces.h"
#include "model/xalloc.h"
#include "tests/fixtures/trace_text.h"
#include "tests/unit/unit.h"

/* Letter 'a' is the first one. path: "main:10 halo:21", functions with lines, the outermost first.
 */
struct traced_call {
	const char *path, *name;
	enum seg_class class_id;
};

struct traced_run {
	struct job *job;
	struct traces *traces;
};

/* Code of one build is at the same offset wherever it says the same. */
static inline uint64_t traced_offset(const char *frame, uint8_t build)
{
	uint64_t offset = build;

	for (; *frame && *frame != ' '; frame++)
		offset = offset * 31 + (unsigned char)*frame;
	return offset % 1000003;
}

static inline uint32_t traced_path(struct job *job, const char *text, uint8_t build)
{
	uint32_t module = modules_intern(job->modules, "/opt/ring", &build, build ? 1 : 0);
	uint32_t system = modules_intern(job->modules, "/lib/libc.so.6", NULL, 0);
	/* What starts main() is nobody's business, and in each build another code. */
	uint32_t path = callpaths_intern(job->callpaths, CALLPATH_NONE, system, 100u + build, true);

	while (*text) {
		struct name name = {
			.file = "ring.c", .full_file = "/src/ring.c", .is_symbol = true};
		char *function = xstrndup(text, strcspn(text, ":"));

		path = callpaths_intern(job->callpaths, path, module, traced_offset(text, build),
					true);
		name.function = function;
		name.line = atoi(text + strlen(function) + 1);
		names_set(job->names, path, &name);
		free(function);
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	return path;
}

/* calls ends with a call without a name, ranks with NULL. build 0: nobody knows which. */
static inline struct traced_run traced_run_create(const struct traced_call *calls,
						  const char *const *ranks, uint8_t build)
{
	struct arena *own = arena_create();
	struct traced_run run = {job_create(), arena_alloc(own, sizeof(*run.traces))};
	struct traces *traces = run.traces;
	uint32_t num_calls = 0, *map;
	size_t num_ranks = 0;

	while (calls[num_calls].name)
		num_calls++;
	while (ranks[num_ranks])
		num_ranks++;
	traces->arena = own;
	traces->symbols = arena_array(own, num_calls, sizeof(*traces->symbols));
	map = arena_array(own, num_calls, sizeof(*map));
	for (uint32_t c = 0; c < num_calls; c++) {
		map[c] = c;
		traces->symbols[traces->num_symbols++] = (struct traces_symbol){
			.kind = SEG_TRACE_CALL,
			.path = traced_path(run.job, calls[c].path, build),
			.name = calls[c].name,
			.class_id = calls[c].class_id,
		};
	}
	traces->lanes = arena_array(own, num_ranks, sizeof(*traces->lanes));
	for (size_t r = 0; r < num_ranks; r++)
		traces->lanes[traces->num_lanes++] = (struct traces_lane){
			.rank = (int)r,
			.is_main = true,
			.trace = trace_from_text(ranks[r]),
			.symbols = map,
			.num_local = num_calls,
		};
	return run;
}

static inline void traced_run_destroy(struct traced_run *run)
{
	for (size_t i = 0; i < run->traces->num_lanes; i++)
		trace_destroy((struct trace *)run->traces->lanes[i].trace);
	traces_destroy(run->traces);
	job_destroy(run->job);
}

static inline struct trace_run traced_run_of(const struct traced_run *run)
{
	return (struct trace_run){run->job, run->traces};
}

#endif
