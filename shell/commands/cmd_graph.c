/* SPDX-License-Identifier: BSD-3-Clause
 * graph: the progress dependency graph. */
#include "model/error.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"

static int run_graph(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_graph = {
	.name = "graph",
	.topic = TOPIC_ANSWERS,
	.usage = "graph",
	.summary = "Draw which groups are ahead of which.",
	.text = "An arrow goes from a group to one that is less progressed; the ends are the\n"
		"least progressed. \"graph > FILE\" with a name that ends in .dot, .svg, .png or\n"
		".pdf makes a picture.",
	.example = "graph > hang.svg",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_GRAPHIC | CMD_DATA | CMD_ANSWERS,
	.run = run_graph,
};

static int run_graph(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct view view = session_view(session);

	(void)args;
	(void)err;
	if (session->wants_dot)
		view_graph_dot(&view);
	else if (session->wants_data)
		view_graph_json(&view);
	else
		view_graph(&view);
	return 0;
}
