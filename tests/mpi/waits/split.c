/* SPDX-License-Identifier: BSD-3-Clause
 * Two halves of a job that have nothing to do with each other: the lower one hangs because a pair
 * in it receives before it sends, the upper one goes on.
 * expect: kind=deadlock lp=R,R+1 still=lower
 * says: MPI_Recv; tag 5
 * ranks: 4:0 8:2 */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank, size, partner;
	double x, sum;
	MPI_Comm half;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &half);
	partner = rank < size / 2 ? rank ^ 1 : (rank ^ 1) - size / 2;
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (rank % 2 == 0 && !fault_is_now(rank, step)) {
			MPI_Send(&x, 1, MPI_DOUBLE, partner, 5, half);
			MPI_Recv(&x, 1, MPI_DOUBLE, partner, 5, half, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(&x, 1, MPI_DOUBLE, partner, 5, half, MPI_STATUS_IGNORE);
			MPI_Send(&x, 1, MPI_DOUBLE, partner, 5, half);
		}
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, half);
		x = fault_work(sum);
	}
	MPI_Comm_free(&half);
	MPI_Finalize();
	return 0;
}
