/* SPDX-License-Identifier: BSD-3-Clause
 * How long it takes to merge the models of many ranks and to analyse the job.
 *
 *	analysis_bench RANKS...
 *
 * The simulated program has a time step loop with an exchange that ranks at borders skip parts of,
 * a solver loop whose length depends on the rank, and output now and then; some 80 call sites. Five
 * ranks hang outside MPI, their neighbours wait for them, all others wait in a collective. There
 * are communicators of all ranks, of rows of 16 and of columns of 64. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/eqgroup.h"
#include "analysis/progress.h"
#include "analysis/verdict.h"
#include "model/job_comms.h"
#include "model/rankset.h"
#include "tests/unit/simulation.h"

enum { NUM_STEPS = 40, NUM_SETUP = 60, RING = 512, NUM_HANGING = 5, NUM_COMMS = 12 };

enum part { HANGS, WAITS_FOR_IT, WAITS };

/* Of processor time: other programs do not count. */
static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void exchange(struct sim_rank *rank, int border)
{
	for (uint32_t side = 0; side < 6; side++) {
		if (border >> side & 1)
			continue;
		sim_call(rank, "MPI_Irecv", SIM_PATH(10, 20, 30 + side));
		sim_call(rank, "MPI_Send", SIM_PATH(10, 20, 40 + side));
	}
	sim_call(rank, "MPI_Waitall", SIM_PATH(10, 20, 50));
}

static void solve(struct sim_rank *rank, int trips)
{
	for (int i = 0; i < trips; i++) {
		sim_call(rank, "MPI_Sendrecv", SIM_PATH(10, 21, 60));
		sim_call(rank, "MPI_Sendrecv", SIM_PATH(10, 21, 61));
	}
}

/* Of the ranks first, first + step, ... */
static void set_comm(struct model *model, size_t index, uint64_t id, int first, int step, int size)
{
	model->comms[index] = (struct model_comm){ .id = id,
						   .parent_id = id == 1 ? 0 : 1,
						   .rank = (model->rank - first) / step,
						   .size = (uint32_t)size,
						   .members = (uint32_t)model->num_members,
						   .remote_members = SEG_NO_MEMBERS,
						   .sources = SEG_NO_MEMBERS };
	if (size == model->size) {
		model->comms[index].members = SEG_ALL_MEMBERS;
		return;
	}
	for (int i = 0; i < size; i++)
		model->members[model->num_members++] = first + i * step;
}

/* How many of first, first + step, ... are ranks, 16 or 64 at most. */
static int count_ranks(const struct model *model, int first, int step, int most)
{
	int num = (model->size - first + step - 1) / step;

	return num < most ? num : most;
}

/* MPI_COMM_WORLD, MPI_COMM_SELF, duplicates of the first, a row and a column. */
static void add_comms(struct model *model, int num_ranks)
{
	int number = model->rank, row = number / 16 * 16, block = number / 1024 * 1024;
	int column = block + number % 16;

	model->size = num_ranks;
	model->comms = xcalloc(NUM_COMMS, sizeof(*model->comms));
	model->num_comms = NUM_COMMS;
	model->members = xcalloc(1 + 16 + 64, sizeof(*model->members));
	set_comm(model, 0, 1, 0, 1, num_ranks);
	set_comm(model, 1, 1000 + (uint64_t)number, number, 1, 1);
	for (uint64_t i = 2; i < NUM_COMMS - 2; i++)
		set_comm(model, i, i, 0, 1, num_ranks);
	set_comm(model, NUM_COMMS - 2, (1ull << 32) + (uint64_t)row, row, 1,
		 count_ranks(model, row, 1, 16));
	set_comm(model, NUM_COMMS - 1, (2ull << 32) + (uint64_t)column, column, 16,
		 count_ranks(model, column, 16, 64));
}

static struct sim_rank *run_rank(int number, int border, enum part part)
{
	struct sim_rank *rank = sim_rank_create(number);
	int trips = 2 + number % 4;

	rank->max_ring = RING;
	sim_call(rank, "MPI_Init", SIM_PATH(1));
	for (uint32_t i = 0; i < NUM_SETUP; i++)
		sim_call(rank, "MPI_Bcast", SIM_PATH(2, 100 + i));
	for (int step = 0; step < NUM_STEPS; step++) {
		exchange(rank, border);
		solve(rank, trips + (number + step) % 3);
		if (step % 10 == 0)
			sim_call(rank, "MPI_Reduce", SIM_PATH(10, 22, 70));
		sim_call(rank, "MPI_Allreduce", SIM_PATH(10, 23));
	}
	exchange(rank, border);
	if (part != HANGS)
		solve(rank, part == WAITS ? trips : 1);
	if (part == WAITS)
		sim_enter(rank, "MPI_Allreduce", SIM_PATH(10, 23));
	else if (part == WAITS_FOR_IT)
		sim_enter(rank, "MPI_Sendrecv", SIM_PATH(10, 21, 60));
	sim_stay(rank, 5000);
	return rank;
}

/* 27 kinds of ranks: inside, at a face, an edge or a corner of a block of 16 x 16 x n. */
static int border_of(int number, int num_ranks)
{
	int x = number % 16, y = number / 16 % 16, z = number / 256, last = (num_ranks - 1) / 256;

	return (x == 0 ? 1 : x == 15 ? 2 : 0) | (y == 0 ? 4 : y == 15 ? 8 : 0) |
	       (z == 0 ? 16 : z == last ? 32 : 0);
}

static struct sim_rank **run_job(int num_ranks)
{
	struct sim_rank **ranks = xcalloc((size_t)num_ranks, sizeof(struct sim_rank *));

	for (int r = 0; r < num_ranks; r++) {
		int distance = r % (num_ranks / NUM_HANGING);
		enum part part = distance == 7	 ? HANGS :
				 distance == 6 || distance == 8 ? WAITS_FOR_IT :
								  WAITS;

		ranks[r] = run_rank(r, border_of(r, num_ranks), part);
		add_comms(ranks[r]->model, num_ranks);
		sim_trim(ranks[r]);
	}
	return ranks;
}

/* Unify the communicators, and ask for a peer of each rank in each: ms. */
static double bench_comms(const struct job *job)
{
	double begin = seconds();
	struct job_comms *comms = job_comms_create(job->model);
	size_t num_wrong = 0;

	for (size_t i = 0; i < job->model->num_lanes; i++) {
		const struct model *model = job->model->lanes[i].model;

		for (uint32_t c = 0; c < NUM_COMMS; c++)
			num_wrong += job_comms_peer(comms, model, c, model->comms[c].rank) !=
				     model->rank;
	}
	if (num_wrong) {
		fprintf(stderr, "analysis_bench: %zu peers are wrong\n", num_wrong);
		exit(1);
	}
	job_comms_destroy(comms);
	return (seconds() - begin) * 1e3;
}

static void bench(int num_ranks)
{
	struct job *job = job_create();
	struct sim_rank **ranks = run_job(num_ranks);
	struct progress *progress;
	struct eqgroups *groups;
	struct progress_graph *graph;
	struct verdict *verdict;
	double at[5], comms;
	char *culprits;

	at[0] = seconds();
	for (int r = 0; r < num_ranks; r++)
		sim_add(job, ranks[r]);
	job_model_finish(job->model);
	at[1] = seconds();
	progress = progress_create(job->model);
	at[2] = seconds();
	groups = eqgroups_create(progress);
	graph = progress_graph_create(progress, groups);
	at[3] = seconds();
	verdict = verdict_create(job, groups, graph, NULL);
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
	progress_graph_destroy(graph);
	eqgroups_destroy(groups);
	progress_destroy(progress);
	job_destroy(job);
	free(ranks);
}

int main(int argc, char **argv)
{
	printf("%8s %7s %6s %7s %9s %9s %9s %9s %9s %9s  %s\n", "ranks", "shapes", "loops", "groups",
	       "merge ms", "place ms", "group ms", "judge ms", "comms ms", "all ms",
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
