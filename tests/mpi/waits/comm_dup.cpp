// SPDX-License-Identifier: BSD-3-Clause
// A library makes its own communicator when it is first used, which one rank does alone.
// expect: kind=mismatch lp=R where=init_library
// says: MPI_Comm_dup; MPI_Allreduce; MPI_COMM_WORLD
// ranks: 4:2 8:5
#include <mpi.h>

#include "fault.h"

static NOINLINE void init_library()
{
	MPI_Comm own;

	MPI_Comm_dup(MPI_COMM_WORLD, &own);
	MPI_Comm_free(&own);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	double x = rank, sum;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (fault_is_now(rank, step))
			init_library();
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
