/* SPDX-License-Identifier: BSD-3-Clause
 * progress: how far every group got. */
#include "model/error.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"

static int run_progress(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_progress = {
	.name = "progress",
	.topic = TOPIC_ANSWERS,
	.usage = "progress",
	.summary = "Show how far each group got in the loops, as bars.",
	.text = "Says also who moved between the two looks, so that stragglers show before\n"
		"anything hangs. \"refresh\" looks again.",
	.example = "progress",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_DATA | CMD_ANSWERS,
	.run = run_progress,
};

static int run_progress(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct view view = session_view(session);

	(void)args;
	(void)err;
	if (session->wants_data)
		view_progress_json(&view);
	else
		view_progress(&view);
	return 0;
}
