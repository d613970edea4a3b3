/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom in small programs, carried out until nobody can go on. */
#ifndef PDB_TESTS_UNIT_SMALL_ANSWERS_H
#define PDB_TESTS_UNIT_SMALL_ANSWERS_H

#include <limits.h>

#include "model/job/rankset.h"
#include "tests/unit/answers.h"
#include "tests/unit/small_models.h"

/* The job that small programs (NULL: no more) make, seen so long after they got stuck. */
static inline struct job *run(const char *const *programs, uint64_t stay_ms)
{
	struct sm_job *small;
	int size = 0;

	while (programs[size])
		size++;
	small = sm_create(programs, size, 0);
	sm_run(small, INT_MAX);
	return sm_finish(small, stay_ms);
}

static inline struct answers judge(const char *const *programs, uint64_t stay_ms)
{
	return answers_of(run(programs, stay_ms));
}

/* With the job. */
static inline void forget(struct answers *a)
{
	answers_deinit(a);
	job_destroy(a->job);
}

/* Those that are, or only may be, stuck; the caller frees. */
static inline char *stuck_ranks(const struct waitfor *w, bool is_likely)
{
	struct rankset *set = rankset_create();
	char *text;

	for (size_t l = 0; l < w->num_actors; l++)
		if (is_likely ? w->actors[l].is_likely_stuck : w->actors[l].is_stuck)
			rankset_add(set, w->job->model->lanes[l].rank);
	text = rankset_encode(set, 0);
	rankset_destroy(set);
	return text;
}

static inline struct model *model_of(struct job *job, int rank)
{
	return (struct model *)(uintptr_t)job->model->lanes[rank].model;
}

static inline void drop_rows(struct job *job)
{
	model_of(job, 1)->lanes[0].dropped_ledger = 1;
}

static inline void change_nothing(struct job *job)
{
	(void)job;
}

#endif
