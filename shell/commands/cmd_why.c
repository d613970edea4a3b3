/* SPDX-License-Identifier: BSD-3-Clause
 * why: from one rank to the cause. */
#include "model/error.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"

static int run_why(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_why = {
	.name = "why",
	.alias = "w",
	.topic = TOPIC_ANSWERS,
	.usage = "why RANK",
	.summary = "Explain what a rank waits for, step by step to the cause.",
	.text = "The chain goes from the rank to what it waits for, by the messages and\n"
		"collectives that were counted, and on to a cause that can be looked up in the\n"
		"source: a deadlock, a lost message, a mismatch of collectives, a rank that\n"
		"computes. Where these do not tell, it goes along the progress graph to the\n"
		"least-progressed rank. Without a recorder it goes by the stacks and what the MPI\n"
		"library holds of messages.",
	.example = "why 7",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_WAITS | CMD_DATA | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 2,
	.words = WORDS_RANK,
	.run = run_why,
};

static int run_why(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct view view = session_view(session);
	size_t next = 0;
	int rank;

	if (session_take_rank(session, args, &next, &rank, err) < 0 ||
	    args_end(args, next, err) < 0)
		return -1;
	if (session->wants_data)
		view_why_json(&view, rank);
	else
		view_why(&view, rank);
	return 0;
}
