/* SPDX-License-Identifier: BSD-3-Clause
 * loops: the loop nest of the job. */
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"

const struct command cmd_loops = {
	.name = "loops",
	.topic = TOPIC_LOOKING,
	.usage = "loops",
	.summary = "Show the loops around MPI calls, with iteration counts.",
	.text = "Loops are found in what the ranks did, not in the source. Counts are those since\n"
		"the enclosing loop began its present iteration; \"about\" marks counts that are\n"
		"totals. \"loops > FILE\" with .dot, .svg, .png or .pdf makes a picture.",
	.example = "loops",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.views = {[FORMAT_TEXT] = view_loops,
		  [FORMAT_JSON] = view_loops_json,
		  [FORMAT_DOT] = view_loops_dot},
};
