/* SPDX-License-Identifier: BSD-3-Clause
 * Relative progress: the loop nest of the job, each actor's place in it, and the partial order.
 *
 * An actor is a lane of the job model: a thread of a rank that calls MPI. */
#ifndef PDB_ANALYSIS_PROGRESS_H
#define PDB_ANALYSIS_PROGRESS_H

#include "model/std.h"

struct arena;
struct job_model;

enum progress_order { PROGRESS_LESS, PROGRESS_SAME, PROGRESS_MORE, PROGRESS_UNORDERED };

/* A loop of the job, for display. If its body begins with the first call of a loop inside, both
 * have the same header. Which of them begins a new iteration depends on where a rank comes from. */
struct job_loop {
	uint32_t header; /* job state chosen as header (job_loops.h says how) */
	uint32_t parent; /* index of the enclosing loop, or LOOP_NONE */
	uint32_t depth;  /* 0: outermost */
	uint32_t role;   /* of the actors that run it */
	bool is_irreducible;
	/* false: the ranks that run it share neither a state nor a part of a call path that could
	 * mark iterations. Then two ranks in it are unordered unless they are in the same place. */
	bool is_comparable;
	/* The call path that all states of the loop share; its innermost frame names the loop. */
	uint32_t path;
	/* CALLPATH_NONE: iterations are arrivals at `header`, or from outside at several states of
	 * which it is the first. Else they are arrivals from outside at any state whose call path
	 * has this prefix, as not all ranks visit the header. */
	uint32_t region;
};

/* How far an actor got in one loop. */
struct iteration {
	uint32_t loop;
	uint64_t count;      /* arrivals since the enclosing loop's header was last reached */
	uint64_t total;      /* arrivals ever */
	bool is_approximate; /* the ring did not reach back: `count` is the cumulative total */
};

struct place {
	uint32_t state;               /* job state */
	struct iteration *iterations; /* loops that contain the state, outermost first */
	size_t num_iterations;
	/* The frontier: the state lies in no known loop, or in one that nobody has left, and all
	 * came there from one loop. These are the loops of the actor's last state before it. It is
	 * taken to be still in them if another actor is in a later iteration there. */
	struct iteration *frontier;
	size_t num_frontier;
};

struct progress {
	struct arena *arena;        /* all that is found of it lives there */
	const struct job_model *jm; /* borrowed */
	struct job_loop *loops;     /* outer before inner */
	size_t num_loops;
	uint32_t *loop_of;    /* [states] innermost job loop, or LOOP_NONE */
	struct place *places; /* [jm->num_lanes] */
	struct progress_private *private;
};

/* for { 1; for { 2; 3 } 4 } is two loops by its transitions. for { for { 1; 2 } 3 }, where both
 * loops begin with one call, is not: for { 1; 2; if { 3 } } makes the same ones. The code tells. */
enum progress_nesting {
	PROGRESS_NESTING_NOT_KNOWN,
	PROGRESS_ONE_LOOP, /* all loops from `last` to `first` contain `outside`, too */
	PROGRESS_NESTED,   /* one has not, and whoever leaves it makes another call of the loop */
	PROGRESS_MAYBE_SKIPPED, /* the same, unless a function called there goes without its call */
};

/* Calls of a loop, by their call paths. */
struct progress_calls {
	uint32_t first, last, outside;
	const uint32_t *all;
	size_t num_all;
};

struct progress_code {
	enum progress_nesting (*ask)(void *context, const struct progress_calls *calls);
	void *context;
};

/* jm is borrowed and must outlive the result; code is asked meanwhile only. */
struct progress *progress_create_by_code(const struct job_model *jm,
					 const struct progress_code *code);
/* With unknown code. */
struct progress *progress_create(const struct job_model *jm);
void progress_destroy(struct progress *progress);

/* Is actor a less, the same or more progressed than b? A partial order (the
 * idea is of Mitra et al., PLDI 2014). Actors of different roles are unordered. */
enum progress_order progress_compare(const struct progress *progress, uint32_t a, uint32_t b);
/* Why: the loop that decided (LOOP_NONE: reachability did), for explanations. */
enum progress_order progress_explain(const struct progress *progress, uint32_t a, uint32_t b,
				     uint32_t *loop_ret);

#endif
