/* SPDX-License-Identifier: BSD-3-Clause
 * Master and workers: rank 0 hands out a task to each worker and collects the results in the order
 * in which they come.
 * expect: lp=R kind=computation where=compute_task
 * ranks: 4:2 8:3 */
#include <mpi.h>

#include "fault.h"

enum { FAULTY_ROUND = 10 };

static NOINLINE double compute_task(int rank, long round, double task)
{
	if (rank == fault_rank && round == FAULTY_ROUND)
		FAULT_LOOP(rank);
	return fault_work(task);
}

static void master(int size)
{
	double result, sum = 0;

	for (long round = 0; round < fault_steps; round++) {
		for (int worker = 1; worker < size; worker++)
			MPI_Send(&sum, 1, MPI_DOUBLE, worker, 1, MPI_COMM_WORLD);
		for (int done = 1; done < size; done++) {
			MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			sum += result / size;
		}
	}
}

static void worker(int rank)
{
	double task;

	for (long round = 0; round < fault_steps; round++) {
		MPI_Recv(&task, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		task = compute_task(rank, round, task);
		MPI_Send(&task, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank == 0)
		master(size);
	else
		worker(rank);
	MPI_Finalize();
	return 0;
}
