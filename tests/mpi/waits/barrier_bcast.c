/* SPDX-License-Identifier: BSD-3-Clause
 * Different collectives: the faulty rank calls MPI_Bcast where the others call MPI_Barrier.
 * expect: kind=mismatch lp=R
 * says: MPI_Bcast; MPI_Barrier; MPI_COMM_WORLD
 * ranks: 4:3 8:2 */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank;
	double x;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		x = fault_work(x);
		if (fault_is_now(rank, step))
			MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		else
			MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
