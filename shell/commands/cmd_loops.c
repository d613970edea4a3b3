/* SPDX-License-Identifier: BSD-3-Clause
 * loops: the loop nest of the job. */
#include "model/error.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"

static int run_loops(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_loops = {
	.name = "loops",
	.topic = TOPIC_LOOKING,
	.usage = "loops",
	.summary = "Show the loops around MPI calls, with iteration counts.",
	.text = "Loops are found in what the ranks did, not in the source. Counts are those since\n"
		"the enclosing loop began its present iteration; \"about\" marks counts that are\n"
		"totals. \"loops > FILE\" with .dot, .svg, .png or .pdf makes a picture.",
	.example = "loops",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_GRAPHIC | CMD_DATA | CMD_ANSWERS,
	.run = run_loops,
};

static int run_loops(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct view view = session_view(session);

	(void)args;
	(void)err;
	if (session->wants_dot)
		view_loops_dot(&view);
	else if (session->wants_data)
		view_loops_json(&view);
	else
		view_loops(&view);
	return 0;
}
