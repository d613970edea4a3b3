// SPDX-License-Identifier: BSD-3-Clause
// Nested loops that share their first call: each cycle begins with an exchange and has many more, level by
// level, in loops of their own. One rank loops in cycle 13 (counted from 1), which is what is to be said.
// expect: lp=R kind=computation where=residual
// says: iteration 1[34]\b
// ranks: 4:1 8:6
#include <mpi.h>

#include "fault.h"

enum { FAULTY_CYCLE = 12, LEVELS = 3, SWEEPS = 2 };

static NOINLINE double exchange(int rank, int size, double x)
{
	double got[2];
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	MPI_Request requests[4];

	MPI_Irecv(&got[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(&got[1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(&x, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[2]);
	MPI_Isend(&x, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[3]);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
	return (got[0] + x + got[1]) / 3;
}

static NOINLINE double smooth(int rank, int size, double x)
{
	for (int sweep = 0; sweep < SWEEPS; sweep++)
		x = fault_work(exchange(rank, size, x));
	return x;
}

static NOINLINE double cycle(int rank, int size, double x, int level)
{
	x = smooth(rank, size, x);
	if (level > 0)
		x = cycle(rank, size, x, level - 1);
	return smooth(rank, size, x);
}

static NOINLINE double residual(int rank, long number, double x)
{
	double sum;

	if (rank == fault_rank && number == FAULTY_CYCLE)
		FAULT_LOOP(rank);
	MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double x = rank;
	for (long number = 0; number < fault_steps; number++) {
		x = cycle(rank, size, x, LEVELS - 1);
		x = residual(rank, number, x) / size;
	}
	MPI_Finalize();
	return 0;
}
