/* SPDX-License-Identifier: BSD-3-Clause
 * bt: merged back traces of this moment. */
#include "model/error.h"
#include "render/view.h"
#include "shell/banner.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"
#include "shell/stack_order.h"
#include "shell/stacks.h"

static int run_bt(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_bt = {
	.name = "bt",
	.alias = "where",
	.topic = TOPIC_LOOKING,
	.usage = "bt [RANKS] [OPTION...]",
	.summary = "Sample stacks and show them merged, with the ranks at each frame.",
	.text = "Without RANKS: those in focus, else all. A rank stands still for some\n"
		"microseconds. \"set frames\" says what makes two frames the same, \"set threads "
		"on\"\n"
		"adds the other threads, \"set fold off\" shows what is inside the MPI library.\n"
		"A function that is inlined has a line of its own, as in gdb, and so has what a\n"
		"signal interrupted: \"<signal 14 handler called>\" stands between.\n"
		"A snapshot shows the stacks that were saved with it. It is \"sample\" and "
		"\"tree\"\n"
		"in one, with the options and files of tree. Functions in Python (CPython 3.11\n"
		"and 3.13) are shown in the place of the interpreter's own.",
	.example = "bt lp",
	.flags = CMD_NEEDS_JOB | CMD_GRAPHIC | CMD_DATA | CMD_FOLDED,
	.max_words = -1,
	.options = STACKS_OPTIONS,
	.words = WORDS_RANKS,
	.run = run_bt,
};

static int run_bt(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct stacks_options options;
	struct calltree *tree = NULL;
	int result = 0;

	if (stacks_take_options(session, args, &options, err) < 0)
		return -1;
	if (!session_has_ended(session))
		result = stack_order_sample(session, options.ranks, err);
	if (!result)
		tree = stacks_make_tree(session, &options, false, err);
	if (tree)
		stacks_print_tree(session, &options, tree);
	else if (!session->wants_dot && !session->wants_data)
		banner_print_stack_holes(session, options.ranks, session->out);
	calltree_destroy(tree);
	stacks_options_deinit(&options);
	return tree ? 0 : -1;
}
