/* SPDX-License-Identifier: BSD-3-Clause
 * Polling by MPI_Improbe for a message that is never sent.
 * expect: kind=likely
 * ranks: 4:2 8:7 */
#include <mpi.h>

#include "fault.h"

static NOINLINE double receive(int from)
{
	int flag = 0;
	double x;
	MPI_Message message;

	while (!flag)
		MPI_Improbe(from, 5, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(&x, 1, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
	return x;
}

int main(int argc, char **argv)
{
	int rank, size;
	double x, sum;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (!fault_is_now(rank, step))
			MPI_Send(&x, 1, MPI_DOUBLE, (rank + 1) % size, 5, MPI_COMM_WORLD);
		x = receive((rank + size - 1) % size);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
