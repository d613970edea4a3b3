/* SPDX-License-Identifier: BSD-3-Clause
 * Non-blocking exchange with both neighbours of a ring, work that overlaps it, and one Waitall.
 * expect: lp=R kind=computation where=interior
 * ranks: 4:2 8:1 */
#include <mpi.h>

#include "fault.h"

enum { FAULTY_STEP = 20 };

static NOINLINE double interior(int rank, long step, double x)
{
	if (rank == fault_rank && step == FAULTY_STEP)
		FAULT_LOOP(rank);
	return fault_work(x);
}

int main(int argc, char **argv)
{
	int rank, size, left, right;
	double x, next, halo[2] = {0, 0};
	MPI_Request requests[4];
	MPI_Status statuses[4];

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	right = (rank + 1) % size;
	left = (rank + size - 1) % size;
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		MPI_Irecv(&halo[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Irecv(&halo[1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
		MPI_Isend(&x, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
		MPI_Isend(&x, 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[3]);
		next = interior(rank, step, x);
		MPI_Waitall(4, requests, statuses);
		x = (next + halo[0] + halo[1]) / 3;
	}
	MPI_Finalize();
	return 0;
}
