/* SPDX-License-Identifier: BSD-3-Clause
 * history: what a rank did last. */
#include "model/error.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"

static int run_history(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_history = {
	.name = "history",
	.topic = TOPIC_LOOKING,
	.usage = "history RANK [COUNT]",
	.summary = "List the last MPI calls of a rank with times.",
	.text = "The last COUNT transitions, or as many as fit the screen. The recorder keeps\n"
		"some thousands of them for each thread.",
	.example = "history 3 20",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_DATA | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 3,
	.words = WORDS_RANK,
	.run = run_history,
};

static int run_history(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct view view = session_view(session);
	size_t next = 0;
	long count = 0;
	int rank;

	if (session_take_model_rank(session, args, &next, &rank, err) < 0)
		return -1;
	if (next < args->num_words &&
	    args_take_number(args, &next, "count", 1, 1 << 20, &count, err) < 0)
		return -1;
	if (args_end(args, next, err) < 0)
		return -1;
	if (session->wants_data)
		view_history_json(&view, rank, count);
	else
		view_history(&view, rank, count);
	return 0;
}
