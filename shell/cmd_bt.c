/* SPDX-License-Identifier: BSD-3-Clause
 * bt: merged back traces. */
#include "analysis/calltree.h"
#include "model/error.h"
#include "model/rankset.h"
#include "render/view.h"
#include "shell/banner.h"
#include "shell/cmd.h"
#include "shell/command.h"
#include "shell/session.h"

static int run_bt(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_bt = {
	.name = "bt",
	.alias = "where",
	.topic = TOPIC_LOOKING,
	.usage = "bt [RANKS]",
	.summary = "Sample stacks and show them merged, with the ranks at each frame.",
	.text = "Without RANKS: those in focus, else all. A rank stands still for some\n"
		"microseconds. \"set frames\" says what makes two frames the same, \"set threads "
		"on\"\n"
		"adds the other threads, \"set fold off\" shows what is inside the MPI library.\n"
		"A snapshot shows the stacks that were saved with it.",
	.example = "bt lp",
	.flags = CMD_NEEDS_JOB | CMD_GRAPHIC,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_bt,
};

static int show(struct session *session, const struct rankset *ranks, struct pdb_error *err)
{
	const int *values = session->settings.values;
	struct view view = session_view(session);
	struct calltree *tree = calltree_create(session->job, ranks, values[SETTING_FRAMES],
						values[SETTING_FOLD] == SWITCH_ON,
						values[SETTING_THREADS] == SWITCH_ON);
	int result = 0;

	if (tree->num_nodes == 0)
		result = error_set(err, ERROR_NOT_FOUND, "there is no stack of these ranks");
	else if (session->wants_dot)
		view_calltree_dot(&view, tree);
	else
		view_calltree(&view, tree);
	calltree_destroy(tree);
	return result;
}

static int run_bt(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct rankset *ranks;
	size_t next = 0;
	int result = 0;

	if (session_take_ranks(session, args, &next, &ranks, err) < 0)
		return -1;
	if (!session_has_ended(session))
		result = session_sample(session, ranks, err);
	if (!result)
		result = show(session, ranks, err);
	if (!session->wants_dot)
		banner_print_stack_holes(session, ranks, session->out);
	rankset_destroy(ranks);
	return result;
}
