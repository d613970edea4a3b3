/* SPDX-License-Identifier: BSD-3-Clause
 * A receive in the wrong communicator: the faulty rank receives in one of the program's own what its
 * left neighbour sends, as always, in MPI_COMM_WORLD.
 * expect: kind=lost lp=R-1,R
 * says: rank {R}; tag 3; no receive takes; its receive may have the wrong communicator; likely
 * ranks: 4:2 8:5 */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank, size;
	double x, got, sum;
	MPI_Comm own;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &own);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		MPI_Send(&x, 1, MPI_DOUBLE, (rank + 1) % size, 3, MPI_COMM_WORLD);
		MPI_Recv(&got, 1, MPI_DOUBLE, (rank + size - 1) % size, 3,
			 fault_is_now(rank, step) ? own : MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Allreduce(&got, &sum, 1, MPI_DOUBLE, MPI_SUM, own);
		x = fault_work(sum);
	}
	MPI_Comm_free(&own);
	MPI_Finalize();
	return 0;
}
