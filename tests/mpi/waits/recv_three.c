/* SPDX-License-Identifier: BSD-3-Clause
 * Three ranks wait for each other: in each group of three a value goes round, and the first of the
 * group is to send before it receives. The faulty one receives first.
 * expect: kind=deadlock lp=R,R+1,R+2
 * says: MPI_Recv; tag 4
 * ranks: 3:0 6:3 */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank, first, next, previous;
	double x, sum;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	first = rank / 3 * 3;
	next = first + (rank + 1) % 3;
	previous = first + (rank + 2) % 3;
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (rank == first && !fault_is_now(rank, step)) {
			MPI_Send(&x, 1, MPI_DOUBLE, next, 4, MPI_COMM_WORLD);
			MPI_Recv(&x, 1, MPI_DOUBLE, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(&x, 1, MPI_DOUBLE, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&x, 1, MPI_DOUBLE, next, 4, MPI_COMM_WORLD);
		}
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
