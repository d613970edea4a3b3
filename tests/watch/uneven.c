/* SPDX-License-Identifier: BSD-3-Clause
 * Healthy programs in which hardly anybody moves: most ranks wait for one nearly always. By their
 *stacks nothing tells them from a hang, as all variables are where a stack does not show them.
 *
 *	uneven KIND SECONDS [STEPS]
 *
 * SECONDS is what the slow rank computes in a step; it goes on for STEPS, or for ever. KIND: */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long step, num_steps = 1000000000;
static double seconds, value, sum, sink = 1;
static int rank, size, slow;

static void __attribute__((noinline)) crunch(void)
{
	for (int i = 0; i < 200000; i++)
		sink = sink * 1.0000001 + 1e-9;
}

static void __attribute__((noinline)) compute(double most)
{
	struct timespec now;
	double end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + most;
	do {
		crunch();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec < end);
}

/* One rank has more to do, and more with each step, up to ten times. */
static void do_imbalance(void)
{
	compute(rank == slow ? seconds * (step < 900 ? 1 + (double)step / 100 : 10) : seconds / 10);
	MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* One rank does all the work. */
static void do_alone(void)
{
	if (rank == slow)
		compute(seconds);
	MPI_Bcast(&value, 1, MPI_DOUBLE, slow, MPI_COMM_WORLD);
	MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* A stage of it is slow, so that those before it cannot send and those after it have nothing to
 * receive. */
static void do_pipeline(void)
{
	if (rank > 0)
		MPI_Recv(&value, 1, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	compute(rank == slow ? seconds : seconds / 50);
	if (rank + 1 < size)
		MPI_Ssend(&value, 1, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
}

/* Rank 0 polls for results, and hands out the next tasks when it has all of them. */
static void do_master(void)
{
	static MPI_Status status;
	static int num, is_there;

	if (rank != 0) {
		compute(rank == slow ? seconds : seconds / 50);
		MPI_Send(&value, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
		MPI_Recv(&value, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		return;
	}
	for (num = 1; num < size;) {
		MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &is_there, &status);
		if (!is_there)
			continue;
		MPI_Recv(&value, 1, MPI_DOUBLE, status.MPI_SOURCE, 2, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		num++;
	}
	for (num = 1; num < size; num++)
		MPI_Send(&value, 1, MPI_DOUBLE, num, 3, MPI_COMM_WORLD);
}

static const struct kind {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{"imbalance", do_imbalance},
	{"alone", do_alone},
	{"pipeline", do_pipeline},
	{"master", do_master},
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct kind *kind;

	kind = argc > 2 ? find_kind(argv[1]) : NULL;
	if (!kind)
		return 2;
	seconds = atof(argv[2]);
	if (argc > 3)
		num_steps = atol(argv[3]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	slow = size / 2;
	for (step = 0; step < num_steps; step++)
		kind->run();
	if (rank == slow)
		printf("uneven: %ld steps\n", step);
	MPI_Finalize();
	return 0;
}
