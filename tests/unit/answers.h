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

static inline struct answers answers_of(struct job *job)
{
	struct answers a = {.job = job, .evidence = evidence_create(job)};
	struct verdict_input input;

	if (job->model) {
		a.comms = job_comms_create(job->model);
		a.progress = progress_create(job->model);
		a.groups = eqgroups_create(a.progress);
		a.graph = progress_graph_create(a.progress, a.groups);
	}
	a.waitfor = waitfor_create(a.evidence, a.comms);
	input = (struct verdict_input){
		.evidence = a.evidence,
		.groups = a.groups,
		.graph = a.graph,
		.waitfor = a.waitfor,
	};
	a.verdict = verdict_create(&input);
	return a;
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
