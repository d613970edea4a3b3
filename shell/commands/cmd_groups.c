/* SPDX-License-Identifier: BSD-3-Clause
 * groups: ranks with one state and one iteration. */
#include "model/job/job.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/session.h"
#include "shell/answers/stack_order.h"

static int find_groups(struct session *session, const struct args *args, struct answer *answer,
		       struct pdb_error *err)
{
	(void)args;
	if (session->job->model)
		return 0;
	answer->order = stack_order_of_look(session, err);
	return answer->order ? 0 : -1;
}

const struct command cmd_groups = {
	.name = "groups",
	.aliases = {"g"},
	.topic = TOPIC_ANSWERS,
	.usage = "groups",
	.summary = "List ranks by what they do, in which iteration, and since when.",
	.text = "Ranks of one row are in the same call path, and in the same iteration of every\n"
		"loop around it; the first iteration is 1. In other commands \"group N\" names\n"
		"the ranks of row N of all groups. Ranks outside MPI compute, are asleep in a\n"
		"system call (such as a wait for a file), or are stopped by a signal. The row\n"
		"shows what they did when pdb took their stacks.\n"
		"Without a recorder, ranks of one row had the same stack at the look. The rows\n"
		"are in temporal order; \"order\" takes new stacks.",
	.example = "groups | grep MPI_Allreduce",
	.flags = CMD_NEEDS_JOB | CMD_ANSWERS,
	.find = find_groups,
	.views = {[FORMAT_TEXT] = view_groups, [FORMAT_JSON] = view_groups_json},
};
