/* SPDX-License-Identifier: BSD-3-Clause
 * A message that left and does not arrive: everybody sends to the right and receives from the left. A
 * library below the recorder swallows one; who was to receive it is a victim.
 * expect: kind=lost
 * says: rank {R}; rank {R+1}; tag 7; network|arrive
 * ranks: 4:1 8:6
 * below: libfault */
#include <mpi.h>
#include <signal.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank, size;
	double x, got, sum;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (fault_is_now(rank, step))
			raise(SIGUSR1);
		MPI_Send(&x, 1, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD);
		MPI_Recv(&got, 1, MPI_DOUBLE, (rank + size - 1) % size, 7, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		MPI_Allreduce(&got, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
