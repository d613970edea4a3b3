/* SPDX-License-Identifier: BSD-3-Clause
 * The loops of a job: the nest of its states, with the heads that mark iterations.
 *
 * A loop of the job is a strongly connected part of the job's states. An iteration begins with an
 * arrival at its head. The head is chosen such that all ranks that run the loop pass it:
 *   1. the state that is reached first, if all these ranks visit it;
 *   2. else a state that they all visit, one on whose count they agree best;
 *   3. but if that state rather is in a loop inside, because ranks agree much better on another one
 *      that they all visit though not each time, then the other one; or if it is a send or receive
 *      that is repeated within one call of the loop's code, then that call (or all but the last);
 *   4. else the states below the longest part of a call path that they all visit (a region);
 *   5. else the first few calls in the order of the code, or of first visits, if ranks agree on
 *      how often they came there from the others;
 *   6. else there is none, and iterations of different ranks cannot be compared.
 * The loops inside are the strongly connected parts without the arrivals at the head. */
#ifndef PDB_ANALYSIS_JOB_LOOPS_H
#define PDB_ANALYSIS_JOB_LOOPS_H

#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"

enum job_loops_limits {
	JOB_LOOPS_MAX_DEPTH = 32, /* loops nested deeper are not taken apart */
	JOB_LOOPS_MAX_LEVELS = 4,
};

/* What of a loop concerns the analysis only. */
struct loop_part {
	uint32_t *states; /* that the loop contains, ascending */
	size_t num_states, capacity;
	bool *is_head; /* [num_states] if the head is several states, else NULL */
	/* [num_states] if the head is not where iterations begin but further on, else NULL: from
	 * there the head is still to come in this iteration. */
	bool *is_before_head;
	/* A head from which several nested loops start (for { for { 1; 2 } 3 }) looks the same as
	 * that of one loop with a part that is skipped now and then (for { 1; 2; if { 3 } }),
	 * unless the code tells. Then each state that goes back to the head has the level of the
	 * loop that it would close, 0 for the innermost; and each state that of the innermost one
	 * that it would be in. [num_states] both, NULL if there is just one level. Where the code
	 * has just one loop there are no levels. Bit i of `nested`: by the code, level i is in a
	 * loop of its own inside that of level i + 1. */
	uint8_t *levels, *levels_in;
	unsigned int num_levels, nested;
};

struct job_loops {
	const struct job_model *jm;
	struct graph *graph; /* of the job's states */
	struct job_loop *loops;
	struct loop_part *parts; /* parallel to loops */
	size_t num_loops, loops_capacity, parts_capacity;
	uint32_t *loop_of; /* [states] */
};

/* It lives in the arena. */
struct job_loops *job_loops_create(struct arena *arena, const struct job_model *jm,
				   const struct progress_code *code);

/* Is the transition from -> to an arrival at the head of the loop? */
bool job_loops_arrives(const struct job_loops *jl, uint32_t loop, uint32_t from, uint32_t to);
/* The level of a transition that arrives; an entry from outside has the highest. */
unsigned int job_loops_level(const struct job_loops *jl, uint32_t loop, uint32_t from);
/* The level of the innermost nested loop that the state, which the loop contains, would be in. */
unsigned int job_loops_level_in(const struct job_loops *jl, uint32_t loop, uint32_t state);
/* Has the present iteration, for people, begun but not come to the head yet? */
bool job_loops_is_before_head(const struct job_loops *jl, uint32_t loop, uint32_t state);
bool job_loops_contains(const struct job_loops *jl, uint32_t loop, uint32_t state);
/* The loop directly inside `loop` (LOOP_NONE: the whole job) that contains the state, which lies in
 * `loop`; LOOP_NONE if it lies in no loop inside. */
uint32_t job_loops_child(const struct job_loops *jl, uint32_t loop, uint32_t state);

/* A search in the body of a loop, or of the whole job: its states without the arrivals at the head,
 * and each loop directly inside as one node. */
struct body_search;
typedef void (*body_reached_fn)(void *context, uint32_t state, uint32_t child);

/* is_tail [states]: states in no loop, and outermost loops, to which a search goes on when it
 * leaves the loop that it is in. May be NULL: none. Borrowed. */
struct body_search *body_search_create(struct arena *arena, const struct job_loops *jl,
				       const bool *is_tail);
/* Call reached() once for each other node that can be reached in the body of `loop`, and in tails
 * outside of it, from the node (state, child): with child LOOP_NONE and the state, or with the loop
 * inside (of a tail: the outermost loop) and any state of it. */
void body_search_run(struct body_search *search, uint32_t loop, uint32_t state, uint32_t child,
		     body_reached_fn reached, void *context);

#endif
