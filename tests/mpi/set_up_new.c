/* SPDX-License-Identifier: BSD-3-Clause
 * A set-up of 10 s on all ranks, then short steps: the faulty rank hangs in the first one of them
 * that takes another way through the code, in a place that the others have all left at once. That
 * it has once stayed longer elsewhere says nothing about this place.
 * expect: lp=R kind=computation where=correct place=new
 * ranks: 4:2 8:5 */
#include <mpi.h>

#include "fault.h"

static NOINLINE double set_up(int rank)
{
	double end = MPI_Wtime() + 10, x = rank;

	while (MPI_Wtime() < end)
		x = fault_work(x);
	return x;
}

static NOINLINE double correct(int rank, double x)
{
	if (rank == fault_rank)
		FAULT_LOOP(rank);
	return fault_work(x);
}

int main(int argc, char **argv)
{
	int rank;
	double x, sum;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	x = set_up(rank);
	for (long step = 0; step < fault_steps; step++) {
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
		if (step % 20 != 19)
			continue;
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		x = correct(rank, sum);
	}
	MPI_Finalize();
	return 0;
}
