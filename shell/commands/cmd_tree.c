/* SPDX-License-Identifier: BSD-3-Clause
 * bt, tree, classes: merged back traces, of this moment or of all samples. */
#include "render/view.h"
#include "shell/answers/stacks.h"
#include "shell/command.h"
#include "shell/options/options.h"

static int find_bt(struct session *session, const struct args *args, struct answer *answer,
		   struct pdb_error *err)
{
	return stacks_find_tree(session, args, false, answer, err);
}

const struct command cmd_bt = {
	.name = "bt",
	.aliases = {"where"},
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

static int find_tree(struct session *session, const struct args *args, struct answer *answer,
		     struct pdb_error *err)
{
	return stacks_find_tree(session, args, true, answer, err);
}

const struct command cmd_tree = {
	.name = "tree",
	.topic = TOPIC_LOOKING,
	.usage = "tree [RANKS] [OPTION...]",
	.summary = "Show the stacks of the last sampling merged, with the ranks at each frame.",
	.text = "Takes a sample if there is none since the last look; \"sample\" takes new ones.\n"
		"\"3:[0,2-3] 12x\": 3 ranks, 12 samples. An arrow is at branches with at most a\n"
		"quarter of the ranks. Branches of a frame are numbered in time as far as their\n"
		"order is known: \"#1\" is the first, the least progressed. \"set frames\",\n"
		"\"set threads\" and \"set fold\" apply; workers of OpenMP are shown in the "
		"region\n"
		"that they work in.\n"
		"\"> FILE\" writes a picture (.dot, .svg, .png, .pdf), .folded for flame "
		"graphs,\n"
		"or .json.",
	.options = &stacks_option_table,
	.example = "tree -search 'solve|exchange' -join",
	.flags = CMD_NEEDS_JOB | CMD_STACKS,
	.max_words = -1,
	.words = WORDS_RANKS,
	.find = find_tree,
	.views = {[FORMAT_TEXT] = view_calltree,
		  [FORMAT_JSON] = view_calltree_json,
		  [FORMAT_DOT] = view_calltree_dot,
		  [FORMAT_FOLDED] = view_calltree_folded},
};

const struct command cmd_classes = {
	.name = "classes",
	.topic = TOPIC_LOOKING,
	.usage = "classes [RANKS] [OPTION...]",
	.summary = "List the ranks that have the same stacks, with one of each to look at.",
	.text = "Largest first, each with the stacks that its ranks had in the last sampling.\n"
		"Takes a sample if there is none. Files are those of tree. With\n"
		"\"-below solve\" ranks that differ only below solve() are one class. \"gdb "
		"RANK\"\n"
		"looks at the one that is named.",
	.example = "classes -below mpi",
	.options = &stacks_option_table,
	.flags = CMD_NEEDS_JOB | CMD_STACKS,
	.max_words = -1,
	.words = WORDS_RANKS,
	.find = find_tree,
	.views = {[FORMAT_TEXT] = view_classes,
		  [FORMAT_JSON] = view_classes_json,
		  [FORMAT_DOT] = view_calltree_dot,
		  [FORMAT_FOLDED] = view_calltree_folded},
};
