/* SPDX-License-Identifier: BSD-3-Clause
 * model: the Markov model of a rank. */
#include "model/error.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"

static int run_model(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_model = {
	.name = "model",
	.topic = TOPIC_LOOKING,
	.usage = "model RANK",
	.summary = "Show the states of a rank and what followed each how often.",
	.text = "\"model RANK > FILE\" with .dot, .svg, .png or .pdf draws it as a graph.",
	.example = "model lp > model.svg",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_GRAPHIC | CMD_DATA | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 2,
	.words = WORDS_RANK,
	.run = run_model,
};

static int run_model(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct view view = session_view(session);
	size_t next = 0;
	int rank;

	if (session_take_model_rank(session, args, &next, &rank, err) < 0 ||
	    args_end(args, next, err) < 0)
		return -1;
	if (session->wants_dot)
		view_model_dot(&view, rank);
	else if (session->wants_data)
		view_model_json(&view, rank);
	else
		view_model(&view, rank);
	return 0;
}
