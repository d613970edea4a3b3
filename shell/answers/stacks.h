/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the commands about stacks (sample, bt, tree, classes): it takes their options and the
 * stacks, and makes trees of them. */
#pragma once

#include "analysis/stacks/calltree.h"

struct answer;
struct args;
struct session;

struct stacks_asked {
	struct rankset *ranks; /* the ranks given, else those in focus, else all */
	bool is_full, is_joined;
	struct calltree_edit edit;
	bool is_selected;
	enum calltree_extreme extreme;
	bool is_timed, is_last; /* -first, -last: steps of the order; is_last: its end */
	unsigned int num;       /* number of steps or stacks */
};

/* Take ranks and options off the words. The result lives as long as the arena. NULL and *err: they
 * are wrong. */
struct stacks_asked *stacks_take_options(struct session *session, const struct args *args,
					 struct arena *arena, struct pdb_error *err);

/* Sample once if any of the ranks has no stack since the last look. Does nothing without a live
 * job. -1 and *err: sampling failed. */
int stacks_ensure(struct session *session, const struct rankset *ranks, struct pdb_error *err);

/* Make the tree that the options ask for. over_time: from all samples, else from the latest of each
 * thread. The caller destroys it. NULL and ERROR_NOT_FOUND: there is no stack, or the options leave
 * none. */
struct calltree *stacks_make_tree(struct session *session, const struct stacks_asked *options,
				  bool over_time, struct pdb_error *err);

/* Put the tree that the words ask for into the answer. over_time: from all samples there are, else
 * from stacks that are taken now. Without a stack, a text answer says which ranks have none, and
 * why. -1 and *err. */
int stacks_find_tree(struct session *session, const struct args *args, bool over_time,
		     struct answer *answer, struct pdb_error *err);
