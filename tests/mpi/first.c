/* SPDX-License-Identifier: BSD-3-Clause
 * The frontier: the fault comes before any rank has completed an iteration, so that no way back has
 * been seen and nobody has ever left the state in which the faulty rank hangs.
 * expect: lp=R kind=computation where=assemble place=new
 * ranks: 4:1 8:7 */
#include <mpi.h>

#include "fault.h"

static NOINLINE double assemble(int rank, double x)
{
	if (rank == fault_rank)
		FAULT_LOOP(rank);
	return fault_work(x);
}

int main(int argc, char **argv)
{
	int rank, size;
	double x, got, sum, start = 1;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	x = start + rank;
	for (long step = 0; step < fault_steps; step++) {
		MPI_Sendrecv(&x, 1, MPI_DOUBLE, (rank + 1) % size, 1, &got, 1, MPI_DOUBLE,
			     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		x = assemble(rank, got);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x /= 1 + sum;
	}
	MPI_Finalize();
	return 0;
}
