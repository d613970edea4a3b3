/* SPDX-License-Identifier: BSD-3-Clause
 * A wildcard receive that takes the wrong message: rank 0 takes the first value from anybody,
 * believing it to be that of rank 1, and then one from each of the others. All goes well while rank
 * 1 is first: it sends, and then tells the others to go on. When another one is early, its message
 * is taken for rank 1's: rank 0 waits for a second one from it, and nobody receives that of rank 1.
 * expect: kind=lost,deadlock
 * says: rank 0; rank {R}; tag 1
 * ranks: 4:3 8:4 */
#include <mpi.h>

#include "fault.h"

static void collect(int size)
{
	double got;

	MPI_Recv(&got, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int rank = 2; rank < size; rank++)
		MPI_Recv(&got, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void give(int rank, int size, long step, double x)
{
	bool is_early = fault_is_now(rank, step);
	bool is_late = rank == 1 && fault_rank > 1 && step == FAULT_STEP;

	/* That rank 1 is late is chance in real programs; here it is made certain. */
	if (is_late)
		MPI_Recv(NULL, 0, MPI_INT, fault_rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank != 1 && !is_early)
		MPI_Recv(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 1 && !is_late) {
		/* Sent is not first yet: between hosts messages overtake each other. */
		MPI_Ssend(&x, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
	} else if (!is_early) {
		MPI_Send(&x, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
	} else {
		MPI_Ssend(&x, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
		MPI_Send(NULL, 0, MPI_INT, 1, 3, MPI_COMM_WORLD);
		MPI_Recv(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	for (int other = 2; rank == 1 && other < size; other++)
		MPI_Send(NULL, 0, MPI_INT, other, 2, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int rank, size;
	double x;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (rank == 0)
			collect(size);
		else
			give(rank, size, step, x);
		MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		x = fault_work(x);
	}
	MPI_Finalize();
	return 0;
}
