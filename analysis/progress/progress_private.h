/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the files that make up progress. */
#pragma once

#include "analysis/progress/job_loops.h"
#include "analysis/progress/progress.h"

/* Arrivals by level (struct loop_part), each since the last of a higher one; the actor's level. */
struct level_counts {
	uint64_t arrivals[JOB_LOOPS_MAX_LEVELS];
	uint64_t totals[JOB_LOOPS_MAX_LEVELS]; /* arrivals ever */
	unsigned int level_in;
	bool is_before_head; /* in an iteration that is not counted yet */
};

/* Where the order sees an actor: in the first num_embedded loops of its frontier, in the loops
 * that contain its state, and at last at the state. */
struct position {
	uint32_t first, num_loops;             /* loops that contain the state, in the pool */
	uint32_t first_frontier, num_frontier; /* loops that it came from, in the pool */
	uint32_t num_embedded;
	uint32_t first_node; /* in the pool: one for each body from the whole job inwards */
};

static inline uint32_t position_depth(const struct position *position)
{
	return position->num_embedded + position->num_loops;
}

/* The i-th loop from outside, as an index into the pool of iterations. */
static inline uint32_t position_iteration(const struct position *position, uint32_t i)
{
	return i < position->num_embedded ? position->first_frontier + i
					  : position->first + (i - position->num_embedded);
}

/* The actors that went the way of one tail. */
struct crowd {
	uint32_t num;
	uint32_t lowest;    /* first iteration, in the pool, of one with the lowest count */
	uint32_t num_equal; /* so many outer loops they all left in the same iterations */
};

struct progress_private {
	struct arena *arena, *scratch; /* the latter while it is made */
	struct job_loops *jl;
	struct position *positions;   /* [lanes] */
	struct iteration *iterations; /* pool */
	struct level_counts *levels;  /* parallel */
	size_t num_iterations;
	/* Tails: states in no loop, or outermost loops, that only lead to tails, or nowhere. */
	bool *is_tail;         /* [states] */
	uint32_t *frontier_of; /* [states] outermost loop from which all came, or LOOP_NONE */
	uint32_t *tail_root;   /* [states] the same for all of a tail, below num_roots */
	size_t num_roots;
	struct crowd *crowds; /* [num_roots], NULL if nobody is at the frontier */
	bool *is_approximate; /* [loops] some actor's ring is too short: only totals are compared */
	uint32_t *nodes;      /* pool: indexes into the nodes of bodies */
	size_t num_nodes;
	struct pair_map *index_of; /* of a node in its body */
	struct body *bodies;       /* [loops + 1]: the last is that of the whole job */
	/* [jl->num_loops] Of the loops that are shown, the outermost of those that one loop is. */
	uint32_t *first_shown;
	bool is_shown_otherwise; /* than `iterations` has it */
};

/* Fill positions, iterations, levels, frontier_of and is_approximate. */
void progress_find_places(struct progress_private *p, const struct job_model *jm);

/* Decide how many loops each actor at the frontier is taken to be in. */
void progress_embed_frontier(struct progress_private *p, const struct job_model *jm);

/* Fill the public loops, loop_of and places. */
void progress_show(struct progress *progress);
/* Of the loops that are shown for the one of two actors' iterations: the outermost in whose
 * iterations they differ, or LOOP_NONE. */
uint32_t progress_find_decisive(const struct progress_private *p, uint32_t iteration,
				uint32_t other);

/* Equal for actors that progress_compare() calls the same. */
uint64_t progress_hash_place(const struct progress *progress, uint32_t actor);
