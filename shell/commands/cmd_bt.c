/* SPDX-License-Identifier: BSD-3-Clause
 * bt: merged back traces of this moment. */
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/options/options.h"
#include "shell/answers/stacks.h"

static int find_bt(struct session *session, const struct args *args, struct answer *answer,
		   struct pdb_error *err)
{
	return stacks_find_tree(session, args, false, answer, err);
}

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
		"in one, with the files of tree. Functions in Python (CPython 3.11\n"
		"and 3.13) are shown in the place of the interpreter's own.",
	.example = "bt lp",
	.flags = CMD_NEEDS_JOB | CMD_STACKS,
	.max_words = -1,
	.options = &stacks_option_table,
	.words = WORDS_RANKS,
	.find = find_bt,
	.views = {[FORMAT_TEXT] = view_calltree,
		  [FORMAT_JSON] = view_calltree_json,
		  [FORMAT_DOT] = view_calltree_dot,
		  [FORMAT_FOLDED] = view_calltree_folded},
};
