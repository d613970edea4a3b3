/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/answers/traces_of.h"

#include "model/arena.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/job/traces.h"
#include "model/wire/share.h"
#include "shell/options/args.h"
#include "shell/session.h"

static struct traces *get(const struct job *job, struct pdb_error *err)
{
	struct traces *traces = traces_create(job);

	if (traces->num_lanes > 0)
		return traces;
	traces_destroy(traces);
	error_set(err, ERROR_NOT_FOUND,
		  "no rank has a trace: start the job with \"pdb run --trace\" or PDB_TRACE");
	return NULL;
}

struct traces *trace_source_get(struct session *session, const struct rankset *ranks,
				struct pdb_error *err)
{
	session->has_given_traces = true;
	return session_get_more(session, ranks, SHARE_TRACES, err) < 0 ? NULL
								       : get(session->job, err);
}

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
		.all_threads = session->settings.threads == SWITCH_ON,
	};
	answer->is_full = o->is_all;
	if (result < 0 ||
	    (o->only && !(ret->runs.filter.only = args_compile_in(answer->arena, o->only, err))) ||
	    (o->without &&
	     !(ret->runs.filter.without = args_compile_in(answer->arena, o->without, err))))
		return NULL;
	return ret;
}

ARENA_DEFINE_IN(job)
ARENA_DEFINE_IN(traces)

const struct trace_input *trace_input_open(struct session *session, const char *word,
					   const struct rankset *ranks, struct answer *answer,
					   struct pdb_error *err)
{
	struct trace_input *ret = arena_alloc(answer->arena, sizeof(*ret));

	ret->is_own = strcmp(word, ".") != 0;
	if (ret->is_own) {
		if (snapshot_load(word, &ret->job, err) < 0)
			return NULL;
		job_in(answer->arena, ret->job);
		ret->traces = get(ret->job, err);
		if (!ret->traces)
			error_prefix(err, "%s", word);
	} else if (session->job) {
		ret->job = session->job;
		ret->traces = trace_source_get(session, ranks, err);
	} else {
		error_set(err, ERROR_USAGE,
			  "there is no job for \".\": attach to one, load a "
			  "snapshot, or name two files");
	}
	return traces_in(answer->arena, ret->traces) ? ret : NULL;
}
