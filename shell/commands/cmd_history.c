/* SPDX-License-Identifier: BSD-3-Clause
 * history: what a rank did last. */
#include "model/error.h"
#include "render/view.h"
#include "shell/options/args.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"

static int find_history(struct session *session, const struct args *args, struct answer *answer,
			struct pdb_error *err)
{
	size_t next = 0;
	long count = 0;

	if (session_take_model_rank(session, args, &next, &answer->rank, err) < 0 ||
	    (next < args->num_words &&
	     args_take_number(args, &next, "count", 1, 1 << 20, &count, err) < 0))
		return -1;
	answer->count = (int)count;
	return args_end(args, next, err);
}

const struct command cmd_history = {
	.name = "history",
	.topic = TOPIC_LOOKING,
	.usage = "history RANK [COUNT]",
	.summary = "List the last MPI calls of a rank with times.",
	.text = "The last COUNT transitions, or as many as fit the screen. The recorder keeps\n"
		"some thousands of them for each thread.",
	.example = "history 3 20",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 3,
	.words = WORDS_RANK,
	.find = find_history,
	.views = {[FORMAT_TEXT] = view_history, [FORMAT_JSON] = view_history_json},
};
