/* SPDX-License-Identifier: BSD-3-Clause
 * A long set-up, in which every rank computes alone for seconds, and then short steps. That ranks
 * once stayed longer elsewhere says nothing about the place where one of them loops.
 * expect: lp=R kind=computation where=smooth
 * ranks: 4:2 8:5 */
#include <mpi.h>

#include "fault.h"

enum { FAULTY_STEP = 30, SET_UP_S = 5 };

static NOINLINE double set_up(double x)
{
	double begin = MPI_Wtime();

	while (MPI_Wtime() - begin < SET_UP_S)
		x = fault_work(x);
	return x;
}

static NOINLINE double smooth(int rank, long step, double x)
{
	if (rank == fault_rank && step == FAULTY_STEP)
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
		x = smooth(rank, step, x);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = sum;
	}
	MPI_Finalize();
	return 0;
}
