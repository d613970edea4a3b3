/* SPDX-License-Identifier: BSD-3-Clause
 * All that pdb finds out about a job, of a model made by hand. */
#ifndef PDB_TESTS_UNIT_ANSWERS_H
#define PDB_TESTS_UNIT_ANSWERS_H

#include "analysis/progress/eqgroup.h"
#include "analysis/progress/progress.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"

struct answers {
	struct job *job; /* borrowed */
	struct evidence *evidence;
	struct job_comms *comms;
	struct waitfor *waitfor;
	struct progress *progress;
	struct eqgroups *groups;
	struct progress_graph *graph;
	struct verdict *verdict;
};

struct temporal_result;

/* With the temporal order of stacks; NULL: it is not known. */
static inline struct verdict *answers_judge(const struct answers *a,
					    const struct temporal_result *order)
{
	const struct verdict_input input = {
		.evidence = a->evidence,
		.groups = a->groups,
		.graph = a->graph,
		.waitfor = a->waitfor,
		.order = order,
	};

	return verdict_create(&input);
}

static inline struct answers answers_with_order(struct job *job,
						const struct temporal_result *order)
{
	struct answers a = {.job = job, .evidence = evidence_create(job)};

	if (job->model) {
		a.comms = job_comms_create(job->model);
		a.progress = progress_create(job->model);
		a.groups = eqgroups_create(a.progress);
		a.graph = progress_graph_create(a.progress, a.groups);
	}
	a.waitfor = waitfor_create(a.evidence, a.comms);
	a.verdict = answers_judge(&a, order);
	return a;
}

static inline struct answers answers_of(struct job *job)
{
	return answers_with_order(job, NULL);
}

static inline void answers_deinit(struct answers *a)
{
	verdict_destroy(a->verdict);
	progress_destroy(a->progress);
	waitfor_destroy(a->waitfor);
	job_comms_destroy(a->comms);
	evidence_destroy(a->evidence);
}

#endif
