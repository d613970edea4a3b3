/* SPDX-License-Identifier: BSD-3-Clause
 * A collective left out: in every third step all ranks agree, but the faulty one goes on to the next
 * exchange with its neighbours, which is nothing unusual in itself.
 * expect: kind=deadlock lp=R
 * says: MPI_Allreduce; left it out
 * ranks: 4:2 8:5 */
#include <mpi.h>

#include "fault.h"

static double exchange(int rank, int size, double x)
{
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	MPI_Request request;
	double from_left, from_right;

	MPI_Irecv(&from_left, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &request);
	MPI_Send(&x, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Irecv(&from_right, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &request);
	MPI_Send(&x, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	return (from_left + x + from_right) / 3;
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
	for (long step = 0; step < 3 * fault_steps; step++) {
		double sum;

		fault_pause(rank, step);
		x = exchange(rank, size, fault_work(x));
		if (step % 3 == 0 && !fault_is_now(rank, step / 3))
			MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
