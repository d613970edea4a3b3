/* SPDX-License-Identifier: BSD-3-Clause
 * A wildcard receive that nobody satisfies: the master takes as many results from MPI_ANY_SOURCE as
 * there are workers and answers all of them. One worker does not send its result: the master waits
 * for anybody, and everybody for the master.
 * expect: kind=deadlock lp=R
 * says: MPI_ANY_SOURCE|any; rank 0
 * ranks: 4:2 8:5 */
#include <mpi.h>

#include "fault.h"

static void master(int num_workers)
{
	double result, work = 0;

	for (int i = 0; i < num_workers; i++) {
		MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		work += result;
	}
	for (int worker = 1; worker <= num_workers; worker++)
		MPI_Send(&work, 1, MPI_DOUBLE, worker, 2, MPI_COMM_WORLD);
}

static double worker(int rank, long step, double x)
{
	double result = fault_work(x);

	if (!fault_is_now(rank, step))
		MPI_Send(&result, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
	MPI_Recv(&x, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return x;
}

int main(int argc, char **argv)
{
	int rank, size;
	double x;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (rank == 0)
			master(size - 1);
		else
			x = worker(rank, step, x);
	}
	MPI_Finalize();
	return 0;
}
