/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/answers/trace_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/arena.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/trace/traces.h"
#include "shell/options/args.h"
#include "shell/session.h"
#include "shell/answers/trace_source.h"

/* ---- Options ---- */

struct traces_asked *trace_options_take(struct session *session, const struct args *args,
					unsigned int users, struct answer *answer,
					struct args *rest, struct pdb_error *err)
{
	struct traces_asked *ret = arena_alloc(answer->arena, sizeof(*ret));
	struct traces_options *o = &ret->options;
	int result;

	option_init(&traces_option_table, o);
	result = option_take_all(&traces_option_table, users, args, o, rest, err);
	arena_keep(answer->arena, rest->words, free);
	ret->runs = (struct trace_runs_options){
		.detail = (enum trace_detail)o->detail,
		.filter.is_mpi = o->is_mpi,
		.filter.is_communication = o->is_communication,
		.all_threads = session->settings.values[SETTING_THREADS] == SWITCH_ON,
	};
	answer->is_full = o->is_all;
	if (result < 0 ||
	    (o->only && !(ret->runs.filter.only = args_compile_in(answer->arena, o->only, err))) ||
	    (o->without &&
	     !(ret->runs.filter.without = args_compile_in(answer->arena, o->without, err))))
		return NULL;
	return ret;
}

/* ---- A run ---- */

static void end_input(void *object)
{
	struct trace_input *input = object;

	traces_destroy(input->traces);
	if (input->is_own)
		job_destroy(input->job);
}

const struct trace_input *trace_input_open(struct session *session, const char *word,
					   const struct rankset *ranks, struct answer *answer,
					   struct pdb_error *err)
{
	struct trace_input *ret = arena_alloc(answer->arena, sizeof(*ret));

	ret->name = word;
	if (strcmp(word, ".") != 0) {
		ret->is_own = true;
		ret->traces = trace_source_load(word, &ret->job, err);
	} else if (session->job) {
		ret->job = session->job;
		ret->traces = trace_source_get(session, ranks, err);
	} else {
		error_set(err, ERROR_USAGE,
			  "there is no job for \".\": attach to one, load a "
			  "snapshot, or name two files");
	}
	arena_keep(answer->arena, ret, end_input);
	return ret->traces ? ret : NULL;
}
