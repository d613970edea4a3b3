/* SPDX-License-Identifier: BSD-3-Clause
 * Three nested loops that begin with one call: over steps, levels and neighbours, of which ranks
 * have differently many. What is summed up now and then ends no loop.
 * expect: lp=R kind=computation where=sum_up
 * says: in iteration 13, as are all others
 * ranks: 4:1 8:6 */
#include <mpi.h>

#include "fault.h"

enum { LEVELS = 3, FAULTY_STEP = 12 };

static bool is_neighbour(int rank, int other, int size)
{
	int apart = (rank - other + size) % size;

	return apart == 1 || apart == size - 1 || (apart > 0 && (rank == 0 || other == 0));
}

static double exchange(int rank, int size, double x)
{
	double sum = x;

	for (int other = 0; other < size; other++) {
		MPI_Request requests[2];
		double from;

		if (!is_neighbour(rank, other, size))
			continue;
		MPI_Irecv(&from, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(&x, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		sum += from;
	}
	return sum / size;
}

static NOINLINE double sum_up(int rank, long step, double x)
{
	double sum;

	if (rank == fault_rank && step == FAULTY_STEP)
		FAULT_LOOP(rank);
	MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum;
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
		for (int level = 0; level < LEVELS; level++)
			x = exchange(rank, size, fault_work(x));
		x = sum_up(rank, step, x) / size;
		if (step % 4 == 1)
			MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
