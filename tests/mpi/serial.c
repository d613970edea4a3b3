/* SPDX-License-Identifier: BSD-3-Clause
 * Healthy, but it does not look so: in each step one rank computes for a good while and all others
 * wait for it. It has always taken that long, so nobody is to be accused.
 * expect: none
 * ranks: 4:-1 8:-1 */
#include <mpi.h>

#include "fault.h"

static NOINLINE double serial_phase(double x)
{
	double end = MPI_Wtime() + 0.4;

	while (MPI_Wtime() < end)
		x = fault_work(x);
	return x;
}

int main(int argc, char **argv)
{
	int rank;
	double x;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		if (rank == 0)
			x = serial_phase(x);
		MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
