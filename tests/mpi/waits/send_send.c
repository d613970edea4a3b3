/* SPDX-License-Identifier: BSD-3-Clause
 * Both partners of a pair send first: in each pair the even rank sends and then receives, the odd
 * one receives and then sends. The faulty one sends, too, and as the messages are too long to be
 * buffered, both wait for a receive that the other has not come to.
 * expect: kind=deadlock lp=R-1,R
 * says: MPI_Send
 * ranks: 4:1 8:5 */
#include <mpi.h>

#include "fault.h"

enum { LONG = 1 << 17 }; /* a megabyte: above every eager limit */

static double mine[LONG], other[LONG];

int main(int argc, char **argv)
{
	int rank, partner;
	double sum;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	partner = rank ^ 1;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (rank % 2 == 0 || fault_is_now(rank, step)) {
			MPI_Send(mine, LONG, MPI_DOUBLE, partner, 7, MPI_COMM_WORLD);
			MPI_Recv(other, LONG, MPI_DOUBLE, partner, 7, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(other, LONG, MPI_DOUBLE, partner, 7, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			MPI_Send(mine, LONG, MPI_DOUBLE, partner, 7, MPI_COMM_WORLD);
		}
		MPI_Allreduce(other, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		mine[0] = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
