/* SPDX-License-Identifier: BSD-3-Clause
 * progress: how far every group got. */
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"

const struct command cmd_progress = {
	.name = "progress",
	.topic = TOPIC_ANSWERS,
	.usage = "progress",
	.summary = "Show how far each group got in the loops, as bars.",
	.text = "Says also who moved between the two looks, so that stragglers show before\n"
		"anything hangs. \"refresh\" looks again.",
	.example = "progress",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.views = {[FORMAT_TEXT] = view_progress, [FORMAT_JSON] = view_progress_json},
};
