/* SPDX-License-Identifier: BSD-3-Clause
 * Communicators are made, used and freed all the time, more than there are entries for, as in
 * programs on Global Arrays or BLACS. In one of them a message is missing.
 * expect: kind=lost lp=R
 * says: rank {R-1}; tag 7; MPI_Recv
 * ranks: 4:1 8:6 */
#include <mpi.h>

#include "fault.h"

enum { BEFORE = 3000, OF_STEP = 3 };

/* Everybody sends to the right and receives from the left. */
static double shift(MPI_Comm comm, int rank, int size, double x, bool sends)
{
	double got;

	if (sends)
		MPI_Send(&x, 1, MPI_DOUBLE, (rank + 1) % size, 7, comm);
	MPI_Recv(&got, 1, MPI_DOUBLE, (rank + size - 1) % size, 7, comm, MPI_STATUS_IGNORE);
	return got;
}

int main(int argc, char **argv)
{
	int rank, size;
	double x, got, sum;
	MPI_Comm comm, alone;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (int i = 0; i < BEFORE; i++) {
		MPI_Comm_dup(i % 8 ? MPI_COMM_SELF : MPI_COMM_WORLD, &comm);
		if (i % 8 == 0)
			x = shift(comm, rank, size, x, true);
		MPI_Comm_free(&comm);
	}
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		for (int i = 0; i < OF_STEP; i++) {
			MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comm);
			MPI_Comm_dup(MPI_COMM_SELF, &alone);
			got = shift(comm, size - 1 - rank, size, x,
				    i < OF_STEP - 1 || !fault_is_now(rank, step));
			MPI_Allreduce(&got, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
			MPI_Comm_free(&alone);
			MPI_Comm_free(&comm);
		}
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
