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
	.topic = TOPIC_STACKS,
	.usage = "bt [RANKS] [OPTION...]",
	.summary = "Sample stacks and show them merged, with the ranks at each frame.",
	.text = "Without RANKS: the ranks in focus, else all. A rank stands still for some\n"
		"microseconds. bt is \"sample\" and \"tree\" in one, and writes the same files as\n"
		"tree. For a snapshot, bt shows the saved stacks.\n"
		"\"set frames\" chooses which frames pdb merges. \"set threads on\" adds the\n"
		"other threads. \"set fold off\" shows what is inside the MPI library. An inlined\n"
		"function has a line of its own, as in gdb. If a signal interrupted code, this\n"
		"code has its own line, too: \"<signal 14 handler called>\" stands between it and\n"
		"the handler. Python functions (CPython 3.11 and 3.13) replace those of the\n"
		"interpreter.",
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
	.topic = TOPIC_STACKS,
	.usage = "tree [RANKS] [OPTION...]",
	.summary = "Show the stacks of the last sampling, merged.",
	.text = "Each frame has its ranks: \"3:[0,2-3] 12x\" is 3 ranks, 12 samples. If there is\n"
		"no sample since the last look, tree takes one; \"sample\" takes new ones. An\n"
		"arrow marks branches with at most a quarter of the ranks. If pdb knows the\n"
		"order of branches in time, they have numbers: \"#1\" is the first, the least\n"
		"progressed. \"set frames\", \"set threads\" and \"set fold\" apply. OpenMP\n"
		"workers appear in the region that they work in.\n"
		"\"> FILE\" writes a picture (.dot, .svg, .png, .pdf), .folded for flame graphs,\n"
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
	.topic = TOPIC_STACKS,
	.usage = "classes [RANKS] [OPTION...]",
	.summary = "List classes of ranks with equal stacks, and one rank of each.",
	.text = "The largest class comes first. Each class has the stacks of its ranks in the\n"
		"last sampling. If there is no sample, classes takes one. To look at the rank\n"
		"that a class names, type \"gdb RANK\". With \"-below solve\", ranks that differ\n"
		"only below solve() are one class. classes writes the same files as tree.",
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
