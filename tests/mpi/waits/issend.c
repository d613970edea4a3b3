/* SPDX-License-Identifier: BSD-3-Clause
 * Synchronous sends without blocking: everybody sends to the right and receives from the left, and
 * waits for both at once. The faulty one wants a word of its left neighbour before it receives, which
 * that says only when its send has ended. Short as the messages are, the send ends with its receive
 * alone.
 * expect: kind=deadlock lp=R
 * says: rank {R-1}; MPI_Issend; to receive message; MPI_Recv
 * ranks: 4:1 8:6 */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank, size, left, right;
	double mine, other = 0, sum;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	mine = rank;
	for (long step = 0; step < fault_steps; step++) {
		MPI_Request requests[2];

		fault_pause(rank, step);
		if (fault_is_now(rank, step))
			MPI_Recv(NULL, 0, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Irecv(&other, 1, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, &requests[0]);
		MPI_Issend(&mine, 1, MPI_DOUBLE, right, 7, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		if (step == FAULT_STEP && right == fault_rank)
			MPI_Send(NULL, 0, MPI_INT, right, 8, MPI_COMM_WORLD);
		MPI_Allreduce(&other, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		mine = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
