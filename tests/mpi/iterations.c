/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks in different iterations: a ring of neighbours without a global operation, so that the hang
 * spreads by one neighbour each step and rank R+k gets k-1 steps further than R.
 * expect: lp=R kind=computation where=update
 * ranks: 4:1 8:6 */
#include <mpi.h>

#include "fault.h"

enum { FAULTY_STEP = 20 };

static NOINLINE double update(int rank, long step, double x)
{
	if (rank == fault_rank && step == FAULTY_STEP)
		FAULT_LOOP(rank);
	return fault_work(x);
}

int main(int argc, char **argv)
{
	int rank, size, left, right;
	double x, west = 0, east = 0;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	right = (rank + 1) % size;
	left = (rank + size - 1) % size;
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		x = update(rank, step, x);
		MPI_Sendrecv(&x, 1, MPI_DOUBLE, right, 1, &west, 1, MPI_DOUBLE, left, 1,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Sendrecv(&x, 1, MPI_DOUBLE, left, 2, &east, 1, MPI_DOUBLE, right, 2,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		x = (x + west + east) / 3;
	}
	MPI_Finalize();
	return 0;
}
