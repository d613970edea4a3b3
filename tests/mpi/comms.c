/* SPDX-License-Identifier: BSD-3-Clause
 * Two communicators: sums along the rows and then along the columns of a grid of ranks. A hang
 * reaches the ranks outside the faulty one's row and column only through others.
 * expect: lp=R kind=computation where=transpose
 * ranks: 4:3 8:4 */
#include <mpi.h>

#include "fault.h"

enum { FAULTY_STEP = 12 };

static NOINLINE double transpose(int rank, long step, double x)
{
	if (rank == fault_rank && step == FAULTY_STEP)
		FAULT_LOOP(rank);
	return fault_work(x);
}

int main(int argc, char **argv)
{
	int rank, size, dims[2] = {0, 0};
	double x, sum;
	MPI_Comm row, column;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, dims);
	MPI_Comm_split(MPI_COMM_WORLD, rank / dims[1], rank, &row);
	MPI_Comm_split(MPI_COMM_WORLD, rank % dims[1], rank, &column);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, row);
		x = transpose(rank, step, sum / size);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, column);
		x = sum / size;
	}
	MPI_Comm_free(&row);
	MPI_Comm_free(&column);
	MPI_Finalize();
	return 0;
}
