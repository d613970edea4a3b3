/* SPDX-License-Identifier: BSD-3-Clause
 * tree, classes: the stacks of the last sampling. */
#include <string.h>

#include "model/error.h"
#include "render/view.h"
#include "shell/banner.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"
#include "shell/stacks.h"

static int run_tree(struct session *session, const struct args *args, struct pdb_error *err);
static int run_classes(struct session *session, const struct args *args, struct pdb_error *err);

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
		"that they work in.\n" STACKS_OPTIONS
		"\n\"> FILE\" writes a picture (.dot, .svg, .png, .pdf), .folded for flame "
		"graphs,\n"
		"or .json.",
	.example = "tree -search 'solve|exchange' -join",
	.flags = CMD_NEEDS_JOB | CMD_GRAPHIC | CMD_DATA | CMD_FOLDED,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_tree,
};

const struct command cmd_classes = {
	.name = "classes",
	.topic = TOPIC_LOOKING,
	.usage = "classes [RANKS] [OPTION...]",
	.summary = "List the ranks that have the same stacks, with one of each to look at.",
	.text = "Largest first, each with the stacks that its ranks had in the last sampling.\n"
		"Takes a sample if there is none. Options and files are those of tree: with\n"
		"\"-below solve\" ranks that differ only below solve() are one class. \"gdb "
		"RANK\"\n"
		"looks at the one that is named.",
	.example = "classes -below mpi",
	.options = STACKS_OPTIONS,
	.flags = CMD_NEEDS_JOB | CMD_GRAPHIC | CMD_DATA | CMD_FOLDED,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_classes,
};

typedef void print_fn(struct session *session, const struct stacks_options *options,
		      const struct calltree *tree);

static int run(struct session *session, const struct args *args, print_fn *print,
	       struct pdb_error *err)
{
	struct stacks_options options;
	struct calltree *tree = NULL;

	if (stacks_take_options(session, args, &options, err) < 0)
		return -1;
	if (stacks_ensure(session, options.ranks, err) == 0)
		tree = stacks_make_tree(session, &options, true, err);
	if (tree)
		print(session, &options, tree);
	else if (!session->wants_dot && !session->wants_data)
		banner_print_stack_holes(session, options.ranks, session->out);
	calltree_destroy(tree);
	stacks_options_deinit(&options);
	return tree ? 0 : -1;
}

static int run_tree(struct session *session, const struct args *args, struct pdb_error *err)
{
	return run(session, args, stacks_print_tree, err);
}

static void print_classes(struct session *session, const struct stacks_options *options,
			  const struct calltree *tree)
{
	struct view view = session_view(session);
	struct calltree_classes *classes;

	if (session->wants_dot ||
	    (session->wants_data && strcmp(session->wants_data, "json") != 0)) {
		stacks_print_tree(session, options, tree);
		return;
	}
	classes = calltree_classes_create(tree);
	if (session->wants_data) {
		view_classes_json(&view, tree, classes);
	} else {
		view_classes(&view, tree, classes);
		banner_print_stack_holes(session, options->ranks, session->out);
	}
	calltree_classes_destroy(classes);
}

static int run_classes(struct session *session, const struct args *args, struct pdb_error *err)
{
	return run(session, args, print_classes, err);
}
