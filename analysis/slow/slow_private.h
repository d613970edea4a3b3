/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the files that find who is slow: steps of ranks (slow_steps.c), who holds the others up
 * in them (slow.c), where (slow_stretch.c), and why (slow_reasons.c). */
#pragma once

#include "analysis/slow/slow.h"

struct job_lane;
struct stack_fact;
struct stack_facts;

/* At most this many of the known steps count. */
enum { SLOW_MAX_STEPS = 1024, SLOW_MIN_STEPS = 64, SLOW_MAX_TIMES = 16 << 20 };

/* Why it is not known who is slow. */
extern const char slow_too_little[];

/* A rank's times in a step: in ns; for a stack sample 0 or 1. */
struct slow_time {
	float outside, all;
};

/* All ranks, in the steps that all of them have. */
struct slow_steps {
	enum slow_source source;
	uint32_t loop;
	uint32_t num_ranks, num_steps;
	uint32_t num_timed;  /* ranks with times; some of them may do something else */
	uint64_t first;      /* number of the first step */
	uint32_t now;        /* steps from here on are judged; those before are the past */
	uint32_t max_events; /* the last ones of each ring that count; 0: all */
	const int *ranks;    /* [num_ranks] ascending */
	const struct job_lane **lanes; /* [num_ranks] */
	struct slow_time *times;       /* [num_ranks][num_steps] */
	uint64_t (*span)[2];   /* [num_ranks] of the steps from `now` on, on its own clock */
	uint32_t *num_stays;   /* [num_ranks] outside MPI, begun since; slices only */
	bool *is_seen_outside; /* [num_ranks] by stacks */
	const char *why;       /* there are none */
};

static inline const struct slow_time *slow_time_of(const struct slow_steps *steps, uint32_t rank,
						   uint32_t step)
{
	return &steps->times[(size_t)rank * steps->num_steps + step];
}

/* By the times that recorders keep. stacks NULL: without samples. is_glance: only iterations, among
 * the last events of each ring. */
struct slow_steps *slow_steps_by_times(struct arena *arena, const struct job *job,
				       const struct progress *progress,
				       const struct stack_facts *stacks, bool is_glance);
struct slow_steps *slow_steps_by_samples(struct arena *arena, const struct stack_facts *stacks);

/* Is the time of the event's state waiting, or outside MPI? Not of the last event of a ring. */
bool slow_is_outside(const struct slow_steps *steps, uint32_t rank, size_t event);

/* The stretch in which rank `index` loses most, over the steps from `now` on. */
void slow_stretch_find(struct arena *arena, const struct job *job, const struct slow_steps *steps,
		       uint32_t index, struct slow_rank *rank);

/* The samples of a rank's main thread outside MPI, with the program's own frame in each. */
struct slow_samples {
	const struct sample **samples;
	uint32_t *user; /* [num] its path, CALLPATH_NONE: none */
	uint32_t num, num_all;
};
struct slow_samples slow_samples_outside(struct arena *arena, const struct job *job,
					 const struct stack_fact *fact, int rank);

/* What kept the slow ranks, and what keeps all of them, of a job with a usage. stacks NULL: without
 * samples. */
void slow_reasons_find(struct arena *arena, const struct job *job, const struct slow_steps *steps,
		       const struct stack_facts *stacks, struct slow *slow);
