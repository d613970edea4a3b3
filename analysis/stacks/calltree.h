/* SPDX-License-Identifier: BSD-3-Clause
 * Stack samples merged into a call prefix tree: an edge for each frame, labelled with the ranks
 * that have it, and one for each function that is inlined in a frame. Frames of one function (or
 * function and line) are merged by name, so ranks at different instructions of it share a node.
 *
 * A tree is made of samples. Other trees are made of it: with less of each stack (calltree_edit()),
 * or with fewer stacks (calltree_select()). In each tree a stack is the chain of nodes from a root
 * to the node whose `ends` contains its rank. */
#ifndef PDB_ANALYSIS_CALLTREE_H
#define PDB_ANALYSIS_CALLTREE_H

#include <regex.h>

#include "model/scope.h"

struct job;
struct rankset;
struct temporal_result;

enum calltree_frames { CALLTREE_FUNCTION, CALLTREE_LINE, CALLTREE_ADDRESS };

struct calltree_node {
	uint32_t path;      /* a call path node that stands for this frame */
	uint32_t level;     /* which function of the frame: names_at() */
	uint32_t parent;    /* index, or UINT32_MAX for roots */
	uint32_t *children; /* by first rank, larger sets first */
	size_t num_children, capacity;
	struct rankset *ranks; /* whose sample goes through this frame */
	struct rankset *ends;  /* whose sample ends here */
	/* Samples that go through it and that end here, of all threads and moments. */
	uint64_t seen, seen_ends;
	/* Those of OpenMP workers, which are shown where their region was begun. */
	uint64_t workers, worker_ends;
	uint32_t time;  /* among its siblings, 1 is the first: see calltree_order() */
	bool is_helper; /* of a thread that the MPI library has for itself */
	bool is_joined; /* the only callee, of the same stacks as its caller: see calltree_join() */
};

struct calltree {
	struct arena *arena;   /* all of it lives there */
	const struct job *job; /* borrowed: its frames and their names */
	enum calltree_frames frames;
	struct calltree_node *nodes; /* parents before children */
	size_t num_nodes, nodes_capacity;
	uint32_t *roots; /* as children; those of helpers behind all others */
	size_t num_roots, roots_capacity;
	int num_ranks;    /* in it, but those of helpers only */
	bool has_repeats; /* of some rank several samples: of threads, or over time */
};

struct calltree_options {
	enum calltree_frames frames;
	bool fold;        /* cut what lies below the first frame of the MPI library, and leave out
			   * the recorder's frames and those that begin a region of OpenMP */
	bool all_threads; /* not only main threads */
	bool over_time;   /* all samples of each thread, not only the latest */
};

/* Merge the samples of `ranks` (NULL: all). Never fails; may be empty. */
struct calltree *calltree_create(const struct job *job, const struct rankset *ranks,
				 const struct calltree_options *options);
void calltree_destroy(struct calltree *tree); /* NULL is fine */
SCOPE_DEFINE(calltree)
/* The name of a node; borrowed as from names_at(). */
const struct name *calltree_name(const struct calltree *tree, uint32_t node);

/* Which frames: those of the MPI library, or those in whose "function() at file:line", with the
 * file's whole path, an expression (POSIX, extended) is found; NULL: none. */
struct calltree_pattern {
	bool is_mpi;
	const regex_t *expression;
};

/* Stacks are edited in the order of the fields. */
struct calltree_edit {
	/* Leave out the recorder's frames and what starts main() or a thread; no end of a stack. */
	bool hide_starts;
	struct calltree_pattern search; /* only stacks that have such a frame */
	struct calltree_pattern above;  /* only those, beginning at the outermost such frame */
	struct calltree_pattern below;  /* end at the outermost such frame */
	struct calltree_pattern hide;   /* leave out such frames */
	unsigned int depth;             /* no more frames than that; 0: all */
};

struct calltree *calltree_edit(const struct calltree *tree, const struct calltree_edit *edit);

/* Mark every node that has the same stacks as its parent as joined to it. */
void calltree_join(struct calltree *tree);

/* Number branches by the temporal order of the ranks' stacks, from 1 on, earlier ones first: one is
 * before another if each stack in it is before each of the other's. Those of one number are not
 * ordered with each other, those with 0 with none of their siblings. Has any a number? */
bool calltree_order(struct calltree *tree, const struct temporal_result *order);

/* Least and most in ranks, shortest and longest in frames. */
enum calltree_extreme { CALLTREE_LEAST, CALLTREE_MOST, CALLTREE_SHORTEST, CALLTREE_LONGEST };

/* Only the first `num` stacks in such an order, and those that equal the last of these in it. */
struct calltree *calltree_select(const struct calltree *tree, enum calltree_extreme extreme,
				 size_t num);

/* Is the frame the code of an OpenMP region? */
bool calltree_is_region(const struct calltree *tree, uint32_t node);

/* Has this branch at most one of four ranks of its parent (a root: of the tree)? */
bool calltree_deviates(const struct calltree *tree, uint32_t node);

/* Ranks that have the same stacks in a tree. */
struct calltree_class {
	struct rankset *ranks;
	uint32_t *ends; /* the nodes in which these stacks end, ascending */
	size_t num_ends, capacity;
};

struct calltree_classes {
	struct calltree_class *classes; /* largest first, then by first rank */
	size_t num_classes;
};

/* They live as long as the tree. */
struct calltree_classes *calltree_classes_create(const struct calltree *tree);

#endif
