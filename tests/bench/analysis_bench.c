/* SPDX-License-Identifier: BSD-3-Clause
 * How long it takes to merge the models of many ranks and to analyse the job.
 *
 *	analysis_bench RANKS...
 *
 * The job is that of tests/fixtures/many_ranks.h: five ranks hang outside MPI, their neighbours
 * wait for them, all others wait in a collective. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/progress/progress.h"
#include "analysis/verdict/verdict.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "tests/fixtures/many_ranks.h"

enum { RING = 512, NUM_HANGING = 5 };

/* Of processor time: other programs do not count. */
static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Unify the communicators, and ask for a peer of each rank in each: ms. */
static double bench_comms(const struct job *job)
{
	double begin = seconds();
	struct job_comms *comms = job_comms_create(job->model);
	size_t num_wrong = 0;

	for (size_t i = 0; i < job->model->num_lanes; i++) {
		const struct model *model = job->model->lanes[i].model;

		for (uint32_t c = 0; c < MANY_RANKS_COMMS; c++)
			num_wrong += job_comms_peer(comms, model, c, model_comm_rank(model, c)) !=
				     model->rank;
	}
	if (num_wrong) {
		fprintf(stderr, "analysis_bench: %zu peers are wrong\n", num_wrong);
		exit(1);
	}
	job_comms_destroy(comms);
	return (seconds() - begin) * 1e3;
}

static struct model **make_models(int num_ranks)
{
	struct many_ranks *many = many_ranks_create(&(struct many_ranks_setting){
		.num_ranks = num_ranks,
		.num_hanging = NUM_HANGING,
		.num_programs = 1,
		.ring = RING,
	});
	struct model **models = xcalloc((size_t)num_ranks, sizeof(struct model *));

	for (int r = 0; r < num_ranks; r++)
		models[r] = many_ranks_model(many, r);
	many_ranks_destroy(many);
	return models;
}

static void bench(int num_ranks)
{
	struct job *job = job_create();
	struct model **models = make_models(num_ranks);
	struct progress *progress;
	struct eqgroups *groups;
	struct progress_graph *graph;
	struct evidence *evidence;
	struct verdict *verdict;
	double at[5], comms;
	char *culprits;

	at[0] = seconds();
	job->model = job_model_create(job->modules, job->callpaths);
	for (int r = 0; r < num_ranks; r++)
		job_model_add(job->model, r, models[r], 0);
	job_model_finish(job->model);
	at[1] = seconds();
	progress = progress_create(job->model);
	at[2] = seconds();
	groups = eqgroups_create(progress);
	graph = progress_graph_create(progress, groups);
	at[3] = seconds();
	evidence = evidence_create(job);
	verdict = verdict_create(
		&(struct verdict_input){.evidence = evidence, .groups = groups, .graph = graph});
	at[4] = seconds();
	comms = bench_comms(job);
	culprits = rankset_encode(verdict->culprits, NUM_HANGING);
	printf("%8d %7zu %6zu %7zu", num_ranks, job->model->num_shapes, progress->num_loops,
	       groups->num_groups);
	for (int i = 1; i < 5; i++)
		printf(" %9.1f", (at[i] - at[i - 1]) * 1e3);
	printf(" %9.1f %9.1f  %s\n", comms, (at[4] - at[0]) * 1e3 + comms, culprits);
	free(culprits);
	verdict_destroy(verdict);
	evidence_destroy(evidence);
	progress_destroy(progress);
	job_destroy(job);
	free(models);
}

int main(int argc, char **argv)
{
	printf("%8s %7s %6s %7s %9s %9s %9s %9s %9s %9s  %s\n", "ranks", "shapes", "loops",
	       "groups", "merge ms", "place ms", "group ms", "judge ms", "comms ms", "all ms",
	       "least progressed");
	for (int i = 1; i < argc; i++) {
		if (atoi(argv[i]) < 10 * NUM_HANGING) {
			fprintf(stderr, "usage: analysis_bench RANKS..., at least %d\n",
				10 * NUM_HANGING);
			return 2;
		}
		bench(atoi(argv[i]));
	}
	return 0;
}
