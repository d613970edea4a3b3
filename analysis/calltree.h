/* SPDX-License-Identifier: BSD-3-Clause
 * Stack samples merged into a call prefix tree: an edge for each frame, labelled with the ranks
 * that have it. Frames of one function (or function and line) are merged by name, so that ranks
 * at different instructions of a function share a node. */
#ifndef PDB_ANALYSIS_CALLTREE_H
#define PDB_ANALYSIS_CALLTREE_H

#include <stddef.h>
#include <stdint.h>

struct job;
struct rankset;

enum calltree_frames { CALLTREE_FUNCTION, CALLTREE_LINE, CALLTREE_ADDRESS };

struct calltree_node {
	uint32_t path;	/* a call path node that stands for this frame's name */
	uint32_t parent; /* index, or UINT32_MAX for roots */
	uint32_t *children; /* by first rank, larger sets first */
	size_t num_children;
	struct rankset *ranks; /* whose sample goes through this frame */
	struct rankset *ends;  /* whose sample ends here */
};

struct calltree {
	struct calltree_node *nodes; /* parents before children */
	size_t num_nodes;
	uint32_t *roots;
	size_t num_roots;
};

/* Merge the latest samples of `ranks` (NULL: all). fold_mpi: cut what lies below the first frame of the
 * MPI library, and the recorder's frames. all_threads: not only main threads. Never fails; may be empty. */
struct calltree *calltree_create(const struct job *job, const struct rankset *ranks,
				 enum calltree_frames frames, int fold_mpi, int all_threads);
void calltree_destroy(struct calltree *tree);

#endif
