/* SPDX-License-Identifier: BSD-3-Clause
 * How trees are put together, for the files that make one. */
#pragma once

#include "analysis/stacks/calltree.h"
#include "model/job/modules.h"

#define NO_NODE UINT32_MAX

/* An empty tree. */
struct calltree *calltree_begin(const struct job *job, enum calltree_frames frames);
/* The child of `parent` (NO_NODE: a root) that stands for the innermost frame of `path`, and there
 * for the function at a level, added if there is none. is_helper: of roots. */
uint32_t calltree_child(struct calltree *tree, uint32_t parent, uint32_t path, uint32_t level,
			bool is_helper);
/* Siblings by such an order; stable. */
typedef int (*calltree_order_fn)(const struct calltree_node *a, const struct calltree_node *b);
void calltree_sort(const struct calltree *tree, uint32_t *siblings, size_t num,
		   calltree_order_fn compare);
/* All ends are there: sums, and the order of siblings. */
void calltree_finish(struct calltree *tree);

/* Of the innermost frame of a path. */
enum module_kind calltree_kind(const struct job *job, uint32_t path);
/* Is a thread's stack that of a thread of the MPI library's own? */
bool calltree_is_helper(const struct job *job, uint32_t path);
/* Is it libgomp's frame between a region and the function that it is in? It tells nothing more. */
bool calltree_begins_region(const struct job *job, uint32_t path);

/* Where the stack of an OpenMP worker goes on in that of the thread that began its region. */
struct calltree_region {
	uint32_t begun;  /* the path to the frame of libgomp that began it */
	uint32_t worker; /* the path to the worker's frame that comes below that one */
};

/* Find the region of a worker's stack among the main thread's samples first[0 .. num-1] of the same
 * rank, in that of the nearest moment. False: not such a stack, or its region is not known. */
bool calltree_find_region(const struct job *job, const struct sample *first, size_t num,
			  const struct sample *worker, struct calltree_region *ret);
