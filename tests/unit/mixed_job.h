/* SPDX-License-Identifier: BSD-3-Clause
 * Jobs of which some ranks have a recorder, some a stack and what their MPI library holds, some
 * both. */
#ifndef PDB_TESTS_UNIT_MIXED_JOB_H
#define PDB_TESTS_UNIT_MIXED_JOB_H

#include <limits.h>
#include <string.h>

#include "model/job/proctable.h"
#include "tests/fixtures/queue_ranks.h"
#include "tests/unit/small_models.h"

/* What ranks call, as in small_mpi.h (NULL: no more), carried out until nobody can go on, which was
 * five seconds ago; the digits in `hidden` are ranks without a recorder. Stacks as in
 * queue_ranks.h. */
static inline struct job *mixed_job(const char *const *programs, const char *hidden,
				    const char *stacks)
{
	struct job *job = job_create();
	struct sm_job *small;
	int size = 0;

	while (programs[size])
		size++;
	small = sm_create(programs, size, 0);
	sm_run(small, INT_MAX);
	for (int r = 0; r < size; r++)
		if (!strchr(hidden, '0' + r))
			sm_put_rank(small, r, 5000, job);
	if (job->model)
		job_model_finish(job->model);
	for (size_t l = 0; job->model && l < job->model->num_lanes; l++) {
		struct job_lane *lane = &job->model->lanes[l];

		lane->has_second_look = true;
		lane->has_moved = small->ranks[lane->rank].call.kind == 'm' &&
				  small->ranks[lane->rank].is_done;
	}
	sm_destroy(small);
	if (*stacks)
		queue_ranks_add(job, stacks);
	job->proctable->size = size;
	return job;
}

#endif
