/* SPDX-License-Identifier: BSD-3-Clause
 * trace: all that a thread did, from its first MPI call on. */
#include <string.h>

#include "model/error.h"
#include "model/job/rankset.h"
#include "model/trace/traces.h"
#include "render/view.h"
#include "render/view_trace.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"
#include "shell/trace_source.h"

static int run_trace(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_trace = {
	.name = "trace",
	.topic = TOPIC_LOOKING,
	.usage = "trace RANK [THREAD] [--full]",
	.summary = "Show the whole sequence of a rank's MPI calls, as nested loops.",
	.text = "For jobs started with pdb run --trace, or with PDB_TRACE. \"[ A B ]^4\" is A B\n"
		"four times, A^2 is A A. THREAD is the number of a thread, from 0 on; without it\n"
		"the main one. --full prints each event on a line of its own. Functions of\n"
		"programs that were compiled with -finstrument-functions are events, too.",
	.example = "trace 3",
	.options = "  --full  each event on a line of its own",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_DATA | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 4,
	.words = WORDS_RANK,
	.run = run_trace,
};

struct question {
	int rank;
	long thread; /* -1: the main one */
	bool full;
};

static int take_question(struct session *session, const struct args *args, struct question *ret,
			 struct pdb_error *err)
{
	size_t next = 0;

	*ret = (struct question){.thread = -1};
	if (session_take_model_rank(session, args, &next, &ret->rank, err) < 0)
		return -1;
	while (next < args->num_words) {
		if (strcmp(args->words[next], "--full") == 0) {
			ret->full = true;
			next++;
		} else if (args_take_number(args, &next, "thread", 0, SEG_MAX_LANES - 1,
					    &ret->thread, err) < 0) {
			return -1;
		}
	}
	return 0;
}

static int show(struct session *session, const struct question *question,
		const struct traces *traces, struct pdb_error *err)
{
	const struct view view = session_view(session);
	const struct traces_lane *lane =
		question->thread < 0
			? traces_find(traces, question->rank)
			: traces_find_lane(traces, question->rank, (int)question->thread);

	if (!lane && question->thread < 0)
		return error_set(err, ERROR_NOT_FOUND, "rank %d has no trace", question->rank);
	if (!lane)
		return error_set(err, ERROR_NOT_FOUND, "rank %d has no trace of a thread %ld",
				 question->rank, question->thread);
	if (session->wants_data)
		view_trace_json(&view, traces, lane);
	else if (question->full)
		view_trace_events(&view, traces, lane);
	else
		view_trace(&view, traces, lane);
	return 0;
}

static int run_trace(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct rankset *ranks = rankset_create();
	struct question question;
	struct traces *traces;
	int result = take_question(session, args, &question, err);

	if (result == 0) {
		rankset_add(ranks, question.rank);
		traces = trace_source_get(session, ranks, err);
		result = traces ? show(session, &question, traces, err) : -1;
		traces_destroy(traces);
	}
	rankset_destroy(ranks);
	return result;
}
