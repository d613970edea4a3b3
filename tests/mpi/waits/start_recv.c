/* SPDX-License-Identifier: BSD-3-Clause
 * A persistent receive that is not started: messages are too long to be buffered, so that the left
 * neighbour of the faulty rank waits for it to receive.
 * expect: kind=lost lp=R
 * says: rank {R-1}; tag 12; MPI_Waitall; made the request for it by MPI_Recv_init; has not started
 * ranks: 4:2 8:5 */
#include <mpi.h>

#include "fault.h"

enum { LONG = 1 << 17 };

static double mine[LONG], other[LONG];

int main(int argc, char **argv)
{
	int rank, size;
	double sum;
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Send_init(mine, LONG, MPI_DOUBLE, (rank + 1) % size, 12, MPI_COMM_WORLD, &requests[0]);
	MPI_Recv_init(other, LONG, MPI_DOUBLE, (rank + size - 1) % size, 12, MPI_COMM_WORLD,
		      &requests[1]);
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		MPI_Startall(fault_is_now(rank, step) ? 1 : 2, requests);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		MPI_Allreduce(other, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		mine[0] = fault_work(sum);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
	MPI_Finalize();
	return 0;
}
