/* SPDX-License-Identifier: BSD-3-Clause
 * graph: the progress dependency graph. */
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"

const struct command cmd_graph = {
	.name = "graph",
	.topic = TOPIC_ANSWERS,
	.usage = "graph",
	.summary = "Draw which groups are ahead of which.",
	.text = "An arrow goes from a group to one that is less progressed; the ends are the\n"
		"least progressed. \"graph > FILE\" with a name that ends in .dot, .svg, .png or\n"
		".pdf makes a picture.",
	.example = "graph > hang.svg",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.views = {[FORMAT_TEXT] = view_graph,
		  [FORMAT_JSON] = view_graph_json,
		  [FORMAT_DOT] = view_graph_dot},
};
