/* SPDX-License-Identifier: BSD-3-Clause
 * Polling for a message that is never sent: a rank that calls MPI_Test again and again may go on to
 * something else at any time, so that nothing is certain about what it waits for.
 * expect: kind=likely
 * ranks: 4:2 8:7 */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank, size, flag;
	double x, got, sum;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		MPI_Irecv(&got, 1, MPI_DOUBLE, (rank + size - 1) % size, 7, MPI_COMM_WORLD,
			  &request);
		if (!fault_is_now(rank, step))
			MPI_Send(&x, 1, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD);
		for (flag = 0; !flag; x = fault_work(x))
			MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		MPI_Allreduce(&got, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
