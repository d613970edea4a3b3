/* SPDX-License-Identifier: BSD-3-Clause
 * Recursion: a multigrid V-cycle that calls itself on the next coarser level, with communication on
 * each level on the way down and on the way up.
 * expect: lp=R kind=computation where=smooth
 * ranks: 4:0 8:6 */
#include <mpi.h>

#include "fault.h"

enum { LEVELS = 4, FAULTY_CYCLE = 6, FAULTY_LEVEL = 2 };

static NOINLINE double smooth(int rank, long cycle, int level, double x)
{
	if (rank == fault_rank && cycle == FAULTY_CYCLE && level == FAULTY_LEVEL)
		FAULT_LOOP(rank);
	return fault_work(x);
}

static double shift(int rank, int size, int tag, double x)
{
	double got;

	MPI_Sendrecv(&x, 1, MPI_DOUBLE, (rank + 1) % size, tag, &got, 1, MPI_DOUBLE,
		     (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return got;
}

static NOINLINE double vcycle(int rank, int size, long cycle, int level, double x)
{
	x = smooth(rank, cycle, level, x);
	x += shift(rank, size, level, x);
	if (level > 0)
		x += vcycle(rank, size, cycle, level - 1, x / 2);
	else
		MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	x += shift(rank, size, LEVELS + level, x);
	return x / 4;
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
	for (long cycle = 0; cycle < fault_steps; cycle++)
		x = vcycle(rank, size, cycle, LEVELS - 1, x);
	MPI_Finalize();
	return 0;
}
