/* SPDX-License-Identifier: BSD-3-Clause
 * What the commands about stacks (sample, bt, tree, classes) have in common: their options, the
 * stacks themselves, and the forms that trees are printed in. */
#ifndef PDB_SHELL_STACKS_H
#define PDB_SHELL_STACKS_H

#include <stdbool.h>

#include "analysis/stacks/calltree.h"

struct answer;
struct args;
struct pdb_error;
struct session;

struct stacks_asked {
	struct rankset *ranks; /* those named, in focus, or all */
	bool is_full, is_joined;
	struct calltree_edit edit;
	bool is_selected;
	enum calltree_extreme extreme;
	bool is_timed, is_last; /* steps along the temporal order, from its end */
	unsigned int num;       /* how many of them */
};

/* Ranks and options of the words. All is the arena's. NULL: *err. */
struct stacks_asked *stacks_take_options(struct session *session, const struct args *args,
					 struct arena *arena, struct pdb_error *err);

/* Sample once if any of the ranks has no stack since the last look. Nothing without a live job. */
int stacks_ensure(struct session *session, const struct rankset *ranks, struct pdb_error *err);

/* The tree that is asked for; over_time: of all samples, not only the latest of each thread.
 * ERROR_NOT_FOUND: there is no stack, or none is left by the options. */
struct calltree *stacks_make_tree(struct session *session, const struct stacks_asked *options,
				  bool over_time, struct pdb_error *err);

/* The tree that the words ask for, into the answer: of stacks that are taken now or, over_time, of
 * those that there are. Without one the text of an answer is which ranks have no stack, and why. */
int stacks_find_tree(struct session *session, const struct args *args, bool over_time,
		     struct answer *answer, struct pdb_error *err);

#endif
