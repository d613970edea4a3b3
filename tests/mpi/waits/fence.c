/* SPDX-License-Identifier: BSD-3-Clause
 * One-sided: a fence that one rank leaves out. It waits for all at the barrier, all wait for it at
 * the fence.
 * expect: kind=deadlock,mismatch lp=R
 * says: MPI_Win_fence
 * ranks: 4:3 8:1 */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank, size;
	static double got; /* not on the stack: there MPICH 4.0.2 puts into what lies beside it */
	double x;
	MPI_Win window;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_create(&got, sizeof(got), sizeof(got), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		MPI_Win_fence(0, window);
		MPI_Put(&x, 1, MPI_DOUBLE, (rank + 1) % size, 0, 1, MPI_DOUBLE, window);
		if (!fault_is_now(rank, step))
			MPI_Win_fence(0, window);
		x = fault_work(got);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
