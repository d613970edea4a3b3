/* SPDX-License-Identifier: BSD-3-Clause
 * Simulated programs, and who of their ranks is behind. */
#ifndef PDB_TESTS_UNIT_PROGRESS_CALLS_H
#define PDB_TESTS_UNIT_PROGRESS_CALLS_H

#include "analysis/progress/progress.h"
#include "tests/unit/simulation.h"
#include "tests/unit/unit.h"

/* Offsets of calls in the simulated program: main is 1000 and up, functions are called from
 * there. */
#define MAIN(n) SIM_PATH(1000 + (n))
#define IN(function, n) SIM_PATH(1000 + (function), 2000 + (function)*100 + (n))

static inline struct progress *finish(struct job *job)
{
	job_model_finish(job->model);
	return progress_create(job->model);
}

static inline void assert_order(const struct progress *progress, uint32_t less, uint32_t more)
{
	assert_int_equal(progress_compare(progress, less, more), PROGRESS_LESS);
	assert_int_equal(progress_compare(progress, more, less), PROGRESS_MORE);
}

static inline const struct iteration *innermost(const struct progress *progress, uint32_t actor)
{
	const struct place *place = &progress->places[actor];

	assert_true(place->num_iterations > 0);
	return &place->iterations[place->num_iterations - 1];
}

#endif
