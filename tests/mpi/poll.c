/* SPDX-License-Identifier: BSD-3-Clause
 * Polling: waiting ranks never block in MPI but call Iprobe for the message of their left neighbour
 * and Test for their own send, and do a little work in between. They are as busy as the faulty one.
 * expect: lp=R kind=computation where=advance
 * ranks: 4:2 8:7 */
#include <mpi.h>

#include "fault.h"

enum { FAULTY_STEP = 20 };

static NOINLINE double advance(int rank, long step, double x)
{
	if (rank == fault_rank && step == FAULTY_STEP)
		FAULT_LOOP(rank);
	return fault_work(x);
}

static double idle_work(double x)
{
	return fault_work(x);
}

int main(int argc, char **argv)
{
	int rank, size, left, right, flag;
	double x, got = 0, idle = 0;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	right = (rank + 1) % size;
	left = (rank + size - 1) % size;
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		x = advance(rank, step, x);
		MPI_Isend(&x, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &request);
		for (flag = 0; !flag; idle = idle_work(idle))
			MPI_Iprobe(left, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		MPI_Recv(&got, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (flag = 0; !flag; idle = idle_work(idle))
			MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		x = (x + got) / 2 + idle * 1e-9;
	}
	MPI_Finalize();
	return 0;
}
