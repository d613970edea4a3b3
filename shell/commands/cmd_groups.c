/* SPDX-License-Identifier: BSD-3-Clause
 * groups: ranks with one state and one iteration. */
#include "model/error.h"
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
	.summary = "List the ranks by what they do, in which iteration, and since when.",
	.text = "Ranks of one row are in the same call path and the same iteration of every loop\n"
		"around it. \"group N\" names the ranks of row N of all groups in other commands.\n"
		"Outside MPI they compute, or, as when they wait for a file, are asleep in a\n"
		"system call, or stopped by a signal: as they were when their stacks were taken.\n"
		"Without a recorder they are those of the same stack, in their temporal order, at\n"
		"the time of the look; \"order\" takes new ones.",
	.example = "groups | grep MPI_Allreduce",
	.flags = CMD_NEEDS_JOB | CMD_ANSWERS,
	.find = find_groups,
	.views = {[FORMAT_TEXT] = view_groups, [FORMAT_JSON] = view_groups_json},
};
