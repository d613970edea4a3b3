/* SPDX-License-Identifier: BSD-3-Clause
 * Three ranks pass values round and send before they receive, from the step of the fault on by
 * MPI_Issend and MPI_Wait. All others wait for them at the barrier and are no part of the deadlock.
 * expect: kind=deadlock lp=R-1,R,R+1
 * says: MPI_Wait; to receive
 * ranks: 5:2 8:5 */
#include <mpi.h>

#include "fault.h"

static NOINLINE double pass(int first, int rank, bool is_bad, double x)
{
	int to = first + (rank - first + 1) % 3, from = first + (rank - first + 2) % 3;
	double got;
	MPI_Request request;

	if (is_bad)
		MPI_Issend(&x, 1, MPI_DOUBLE, to, 2, MPI_COMM_WORLD, &request);
	else
		MPI_Isend(&x, 1, MPI_DOUBLE, to, 2, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Recv(&got, 1, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return got;
}

int main(int argc, char **argv)
{
	int rank, first;
	double x;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	first = fault_rank > 0 ? fault_rank - 1 : 0;
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		fault_is_now(rank, step);
		if (rank >= first && rank < first + 3)
			x = pass(first, rank, fault_rank >= 0 && step >= FAULT_STEP, fault_work(x));
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
