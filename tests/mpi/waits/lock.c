/* SPDX-License-Identifier: BSD-3-Clause
 * A lock that is never released: even and odd ranks add to a value of rank 0 in turns, each with an
 * exclusive lock. The faulty rank forgets to unlock and waits at the barrier.
 * expect: kind=deadlock lp=R
 * says: lock; rank 0
 * ranks: 4:2 8:6 */
#include <mpi.h>

#include "fault.h"

static NOINLINE void add(int rank, long step, double x, MPI_Win window)
{
	double sum;

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
	MPI_Get(&sum, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
	MPI_Win_flush(0, window);
	sum += x;
	MPI_Put(&sum, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
	if (!fault_is_now(rank, step))
		MPI_Win_unlock(0, window);
}

int main(int argc, char **argv)
{
	int rank;
	double x, *sum;
	MPI_Win window;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(sizeof(*sum), sizeof(*sum), MPI_INFO_NULL, MPI_COMM_WORLD, &sum, &window);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (rank % 2 == step % 2)
			add(rank, step, x, window);
		x = fault_work(x);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
