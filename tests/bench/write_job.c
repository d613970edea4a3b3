/* SPDX-License-Identifier: BSD-3-Clause
 * A snapshot of many ranks, to try commands on.
 *
 *	write_job RANKS FILE [apart]
 *
 * The job is that of tests/fixtures/many_ranks.h on nodes of 64 ranks: five ranks hang outside MPI,
 * their neighbours wait for them, all others wait in a collective. "apart": each rank is in a place
 *and an iteration of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/proctable.h"
#include "tests/fixtures/many_ranks.h"

enum { NODE = 64, NUM_HANGING = 5, NUM_PROGRAMS = 2, RING = 512, NEIGHBOURS = 26 };

static void add_processes(struct job *job, int num_ranks)
{
	struct pdb_error err = {0};

	proctable_destroy(job->proctable);
	job->proctable = proctable_create();
	for (int rank = 0; rank < num_ranks; rank++) {
		char host[32];

		snprintf(host, sizeof(host), "node%05d", rank / NODE);
		proctable_add(job->proctable, rank, 1000 + rank, host, "/bin/app0");
	}
	if (proctable_finish(job->proctable, &err) < 0) {
		fprintf(stderr, "write_job: %s\n", err.text);
		exit(1);
	}
}

static struct job *make_job(int num_ranks, bool is_apart)
{
	struct many_ranks *many = many_ranks_create(&(struct many_ranks_setting){
		.num_ranks = num_ranks,
		.num_hanging = NUM_HANGING,
		.num_programs = NUM_PROGRAMS,
		.ring = RING,
		.ranks_per_node = NODE,
		.num_neighbours = NEIGHBOURS,
		.is_apart = is_apart,
	});
	struct job *job = many_ranks_job(many, 0, num_ranks - 1);

	many_ranks_destroy(many);
	add_processes(job, num_ranks);
	return job;
}

int main(int argc, char **argv)
{
	bool is_apart = argc == 4 && strcmp(argv[3], "apart") == 0;
	int num_ranks = argc == 3 || is_apart ? atoi(argv[1]) : 0;
	struct pdb_error err = {0};
	struct job *job;

	if (num_ranks < 10 * NUM_HANGING) {
		fprintf(stderr, "usage: write_job RANKS FILE [apart], at least %d ranks\n",
			10 * NUM_HANGING);
		return 2;
	}
	job = make_job(num_ranks, is_apart);
	if (snapshot_save(job, argv[2], &err) < 0) {
		fprintf(stderr, "write_job: %s\n", err.text);
		return 1;
	}
	job_destroy(job);
	return 0;
}
