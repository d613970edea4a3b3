/* SPDX-License-Identifier: BSD-3-Clause
 * A message that is never sent: everybody sends to the right and receives from the left. The
 * faulty one does not send, and waits for all in the sum that follows.
 * expect: kind=lost lp=R
 * says: rank {R+1}; tag 7; MPI_Recv
 * ranks: 4:1 8:6 */
#include <mpi.h>

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
		if (!fault_is_now(rank, step))
			MPI_Send(&x, 1, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD);
		MPI_Recv(&got, 1, MPI_DOUBLE, (rank + size - 1) % size, 7, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		MPI_Allreduce(&got, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
