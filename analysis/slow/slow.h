/* SPDX-License-Identifier: BSD-3-Clause
 * A job that moves: which ranks hold the others up, where, by how much, since when, and why.
 *
 * Definition. In a step each rank is outside MPI for some time, and inside for the rest. A rank
 * holds the others up if it is outside for longer than the others on average, and they are inside
 * MPI meanwhile. Their extra time inside is waiting, which ends when this rank arrives. The rank's
 * loss is this difference, as a share of all time.
 *
 * A step is the first of these that the job has:
 *	- an iteration of the outermost loop that enough ranks went round often enough. The times
 *	  are those of the last transitions, which recorders keep. Iterations of one number are
 *	  compared.
 *	- a slice of the time before the look, by the same times, if the ranks share no such loop.
 *	- a stack sample, in which a rank is outside or inside; also if the steps above show nobody,
 *	  and there are samples of more ranks than have times.
 *
 * Time between failed polls counts as inside, since a rank that polls waits. Only main threads are
 * compared. The rules in reasons.def say why a rank is slow. They go by what the kernel counted
 * during the look (model/job/usage.h), and never by what was not measured. */
#pragma once

#include "model/base.h"

struct progress;
struct stack_facts;
struct usage_process;
struct usage_rank;

/* Limits that a job must exceed, and why they are so high. */
struct slow_limits {
	/* A loss below a tenth is usual: programs cannot divide their work evenly. */
	double least_loss;
	/* An answer that nobody asked for needs this loss: smaller ones occur in most programs at
	 * times. */
	double clear_loss;
	/* If this many steps all differ in one direction, chance explains it with at most 3 % (sign
	 * test, 1 of 2^5). */
	uint32_t least_steps;
	/* Stack samples and slices say less each. This many give a share of time to within 0.1. */
	uint32_t least_samples;
	/* The mean difference must be this many of its standard errors: chance has 0.1 %. */
	double least_errors;
	/* Ranks are named with the worst one if they lose at least this part of its loss. */
	double like_worst;
	/* A rank was faster before if its difference was below this part of the present one. */
	double was_faster;
	/* A cause must take this much more of the time than in other ranks, */
	double least_cause;
	/* and this part of the loss, or it explains nothing. */
	double least_part;
	/* A cause is told of all ranks if it takes this much of their time. */
	double least_of_all;
	/* MPI counts as slow if ranks are inside for this share of time, and wait for nobody. */
	double least_inside;
};
extern const struct slow_limits slow_limits;

enum { SLOW_MAX_TOLD = 16 };

enum slow_source { SLOW_BY_NOTHING, SLOW_BY_ITERATIONS, SLOW_BY_SLICES, SLOW_BY_SAMPLES };

enum slow_kind {
	SLOW_NOT_KNOWN, /* too little was seen; see slow.why */
	SLOW_BALANCED,
	SLOW_RANKS, /* some hold the others up */
	SLOW_TURNS, /* in each step others do, so that none is to blame */
	SLOW_MPI,   /* nobody does: it is the calls themselves that take the time */
};

enum slow_reason_kind {
#define SLOW_REASON(id, name, scope, find) SLOW_REASON_##id,
#include "analysis/slow/reasons.def"
#undef SLOW_REASON
	SLOW_NUM_REASONS
};

struct slow_reason {
	enum slow_reason_kind kind;
	double share; /* of the interval, of what the kind counts; 0: it is no time */
	/* Whatever the kind needs, else NULL or 0. */
	const struct usage_rank *used;
	const struct rankset *having; /* of slow.reasons: the ranks, */
	int worst;                    /* and the worst of them */
	const struct rankset *ranks;  /* who share processors */
	bool is_bound;                /* to those, of more that the node has */
	bool is_also;                 /* a reason before it tells that it had no processor */
	const struct usage_process *others;
	size_t num_others;
	uint64_t number; /* faults; frequency in MHz */
	/* Of it and of others: calls in a step, MHz, shares of pages (at most, of the others) */
	double own, usual;
	const struct sample *sample; /* of one that sleeps */
};

/* The code between two calls, or a call: a transition of the Markov model. */
struct slow_stretch {
	uint32_t from, to; /* job states: after this call, until that one */
	/* Mean time in a step: of the rank, of the others, of the slowest of the others. */
	double own_ns, others_ns, most_ns;
	/* How often in a step. */
	double own_count, others_count;
	double before_ns;    /* of the rank, before it became slow; 0: it always was */
	uint32_t num_others; /* of them do it at all */
};

struct slow_rank {
	int rank;
	double loss;            /* share of all time */
	double outside, others; /* shares of time outside MPI: its, that of the others on average */
	uint32_t num_longer;    /* in so many steps it was outside for longer than they */
	bool has_stretch;       /* SLOW_BY_ITERATIONS and SLOW_BY_SLICES */
	struct slow_stretch stretch;
	double calls, others_calls;  /* in a step */
	const struct sample *sample; /* outside MPI, where it was most often; NULL: none */
	/* The rank became slow so many iterations and so long ago; 0: it was slow in all that is
	 * known. */
	uint64_t since_iteration;
	double since_ns;
	struct slow_reason *reasons;
	size_t num_reasons;
};

struct slow {
	enum slow_kind kind;
	enum slow_source source;
	const char *why; /* SLOW_NOT_KNOWN: what was missing. Static text */
	uint32_t loop;   /* in progress->loops; LOOP_NONE: none */
	uint32_t num_ranks, num_steps;
	const struct rankset *left_out; /* not compared, and not ended; NULL: SLOW_NOT_KNOWN */
	uint64_t first_step, last_step; /* iterations, as `loops` counts them */
	double span_ns;                 /* of all steps */
	double quiet_ns;                /* since a rank last began an iteration */
	bool is_quiet; /* that is longer than iterations take: these are of the past */
	double inside; /* mean share of time inside MPI */
	double turns;  /* lost to whoever is last in each step */
	/* The worst SLOW_MAX_TOLD have a stretch, a sample and reasons. */
	struct slow_rank *ranks; /* SLOW_RANKS: by loss, the worst first */
	size_t num_slow;
	/* Causes that half of the ranks or more have, and any throttling. Each is that of the worst
	 * rank of its `having`. */
	struct slow_reason *reasons;
	size_t num_reasons;
	bool is_measured; /* there is a usage of these steps, so that causes could be told */
};

/* progress NULL: without models. All of it lives in the arena and borrows from the job. */
struct slow *slow_find(struct arena *arena, const struct job *job, const struct progress *progress,
		       const struct stack_facts *stacks);

/* The same without places and reasons. It reads nothing new and costs little. NULL: nobody clearly
 * holds the others up. */
struct slow *slow_glance(struct arena *arena, const struct job *job,
			 const struct progress *progress);
