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
struct rankset;
struct session;

/* For the texts of help. */
#define STACKS_OPTIONS                                                                             \
	"  -full        with what is inside the MPI library and what starts main()\n"              \
	"  -join        frames that follow each other in all stacks on one line\n"                 \
	"  -depth N     the N outermost frames\n"                                                  \
	"  -below RE    cut stacks below the function RE\n"                                        \
	"  -above RE    cut stacks above it; stacks without it are left out\n"                     \
	"  -hide RE     leave out these functions\n"                                               \
	"  -search RE   only stacks with such a function\n"                                        \
	"  -least [N]   the stacks of fewest ranks; -most of most ranks;\n"                        \
	"  -shortest [N] those with fewest frames; -longest with most\n"                           \
	"  -first [N]   the stacks that are first in time, in N steps along their order;\n"        \
	"               -last from the end\n"                                                      \
	"RE is a regular expression, looked for in \"function() at file:line\"; \"mpi\" is\n"      \
	"the MPI library. N stacks, and those like the last of them; without it 1."

struct stacks_options {
	struct rankset *ranks; /* those named, in focus, or all */
	bool is_full, is_joined;
	struct calltree_edit edit; /* its expressions are in `expressions` */
	regex_t expressions[4];
	unsigned int num_expressions;
	bool is_selected;
	enum calltree_extreme extreme;
	bool is_timed, is_last; /* steps along the temporal order, from its end */
	long num;               /* how many of them */
};

/* Take ranks and options off the words. On failure there is nothing to free. */
int stacks_take_options(struct session *session, const struct args *args,
			struct stacks_options *ret, struct pdb_error *err);
void stacks_options_deinit(struct stacks_options *options);

/* Have stacks of these ranks that were taken since the last look: sample once if there are none of
 * some. Nothing is done without a live job. */
int stacks_ensure(struct session *session, const struct rankset *ranks, struct pdb_error *err);

/* The tree that is asked for; over_time: of all samples, not only the latest of each thread.
 * ERROR_NOT_FOUND: there is no stack, or none is left by the options. */
struct calltree *stacks_make_tree(struct session *session, const struct stacks_options *options,
				  bool over_time, struct pdb_error *err);

/* The tree that the words ask for, into the answer: of stacks that are taken now or, over_time, of
 * those that there are. Without one the text of an answer is which ranks have no stack, and why. */
int stacks_find_tree(struct session *session, const struct args *args, bool over_time,
		     struct answer *answer, struct pdb_error *err);

#endif
