/* SPDX-License-Identifier: BSD-3-Clause
 * An if branch: the owner of the pivot row takes one side, with a broadcast of its own call site,
 * all others take the other side. No order leads from one side to the other.
 * expect: lp=R kind=computation where=find_pivot
 * ranks: 4:3 8:2 */
#include <mpi.h>

#include "fault.h"

enum { FAULTY_ROUND = 3 };

static NOINLINE double find_pivot(int rank, long round, double x)
{
	if (rank == fault_rank && round == FAULTY_ROUND)
		FAULT_LOOP(rank);
	return fault_work(x);
}

int main(int argc, char **argv)
{
	int rank, size;
	double x, pivot;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		int owner = (int)(step % size);

		if (rank == owner) {
			pivot = find_pivot(rank, step / size, x);
			MPI_Bcast(&pivot, 1, MPI_DOUBLE, owner, MPI_COMM_WORLD);
		} else {
			MPI_Bcast(&pivot, 1, MPI_DOUBLE, owner, MPI_COMM_WORLD);
			x = fault_work(x + pivot);
		}
	}
	MPI_Finalize();
	return 0;
}
