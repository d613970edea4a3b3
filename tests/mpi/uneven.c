/* SPDX-License-Identifier: BSD-3-Clause
 * Healthy and uneven: ranks have very different amounts of work in each step, so that some always
 * wait for others in every snapshot.
 * expect: none
 * ranks: 4:-1 8:-1 */
#include <mpi.h>

#include "fault.h"

static NOINLINE double uneven_work(int rank, long step, double x)
{
	for (long i = 0; i < ((rank * 7 + step * 3) % 11) * 200; i++)
		x = fault_work(x);
	return x;
}

int main(int argc, char **argv)
{
	int rank, size;
	double x, sum, got;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		x = uneven_work(rank, step, x);
		MPI_Sendrecv(&x, 1, MPI_DOUBLE, (rank + 1) % size, 1, &got, 1, MPI_DOUBLE,
			     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		x = (x + got) / 2;
		if (step % 8 == 7)
			MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
