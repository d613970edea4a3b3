/* SPDX-License-Identifier: BSD-3-Clause
 * A loop with two entries (irreducible): even ranks enter it at its top and send first, odd ranks
 * jump into its middle and receive first. Needs an even number of ranks.
 * expect: lp=R kind=computation where=digest
 * ranks: 4:1 8:4 */
#include <mpi.h>

#include "fault.h"

enum { FAULTY_STEP = 12 };

static NOINLINE double digest(int rank, long step, double x)
{
	if (rank == fault_rank && step == FAULTY_STEP)
		FAULT_LOOP(rank);
	return fault_work(x);
}

int main(int argc, char **argv)
{
	int rank, size;
	long step = 0;
	double x, got = 0;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	if (rank % 2 == 1)
		goto receive;
send:
	MPI_Send(&x, 1, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD);
receive:
	MPI_Recv(&got, 1, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	x = digest(rank, step, got);
	if (++step < fault_steps)
		goto send;
	if (rank % 2 == 1)
		MPI_Send(&x, 1, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
