/* SPDX-License-Identifier: BSD-3-Clause
 * trace: everything that a thread did, from its first MPI call on. */
#include "model/job/rankset.h"
#include "render/traces/view_traces.h"
#include "model/job/traces.h"
#include "shell/options/args.h"
#include "shell/command.h"
#include "shell/options/options.h"
#include "shell/session.h"
#include "shell/answers/traces_of.h"

ARENA_DEFINE_IN(traces)

/* RANK [THREAD] [--full]; *thread_ret is -1 for the main thread. */
static int take_words(struct session *session, const struct args *args, struct answer *answer,
		      long *thread_ret, struct pdb_error *err)
{
	struct trace_options options = {.is_full = false};
	struct args rest;
	size_t next = 0;
	int result = option_take_all(&trace_option_table, 0, args, &options, &rest, err);

	arena_keep(answer->arena, rest.words, free);
	answer->is_full = options.is_full;
	*thread_ret = -1;
	if (result < 0 || session_take_model_rank(session, &rest, &next, &answer->rank, err) < 0 ||
	    (next < rest.num_words &&
	     args_take_number(&rest, &next, "thread", 0, SEG_MAX_LANES - 1, thread_ret, err) < 0))
		return -1;
	return args_end(&rest, next, err);
}

static int find_trace(struct session *session, const struct args *args, struct answer *answer,
		      struct pdb_error *err)
{
	struct rankset *ranks = rankset_in(answer->arena, rankset_create());
	struct traces *traces;
	long thread;

	if (take_words(session, args, answer, &thread, err) < 0)
		return -1;
	rankset_add(ranks, answer->rank);
	traces = traces_in(answer->arena, trace_source_get(session, ranks, err));
	if (!traces)
		return -1;
	answer->traces = traces;
	answer->lane = thread < 0 ? traces_find(traces, answer->rank)
				  : traces_find_lane(traces, answer->rank, (int)thread);
	if (!answer->lane && thread < 0)
		return error_set(err, ERROR_NOT_FOUND, "rank %d has no trace", answer->rank);
	if (!answer->lane)
		return error_set(err, ERROR_NOT_FOUND, "rank %d has no trace of thread %ld",
				 answer->rank, thread);
	return 0;
}

const struct command cmd_trace = {
	.name = "trace",
	.topic = TOPIC_TRACES,
	.usage = "trace RANK [THREAD] [--full]",
	.summary = "Show the whole sequence of a rank's MPI calls, as nested loops.",
	.text = "This needs a job started with pdb run --trace, or with PDB_TRACE. \"[ A B\n"
		"]^4\" is A B four times; A^2 is A A. THREAD is the number of a thread, from 0;\n"
		"without it, the main thread. Functions of programs compiled with\n"
		"-finstrument-functions are events, too.",
	.example = "trace 3",
	.options = &trace_option_table,
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 4,
	.words = WORDS_RANK,
	.find = find_trace,
	.views = {[FORMAT_TEXT] = view_trace, [FORMAT_JSON] = view_trace_json},
};
