/* SPDX-License-Identifier: BSD-3-Clause
 * A spin lock that is never released: even and odd ranks take a lock of their own making in turns, by
 * putting 1 in place of a value of rank 0 until that was 0. The faulty rank keeps it and waits at the
 * barrier for those that spin.
 * expect: kind=likely where=acquire
 * says: polling
 * ranks: 4:2 8:6 */
#include <mpi.h>

#include "fault.h"

static NOINLINE void acquire(MPI_Win window)
{
	long locked = 1, before;

	do {
		MPI_Fetch_and_op(&locked, &before, MPI_LONG, 0, 0, MPI_REPLACE, window);
		MPI_Win_flush(0, window);
	} while (before == locked);
}

static void release(MPI_Win window)
{
	long unlocked = 0;

	MPI_Accumulate(&unlocked, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_REPLACE, window);
	MPI_Win_flush(0, window);
}

int main(int argc, char **argv)
{
	int rank;
	double x;
	long *lock;
	MPI_Win window;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_allocate(sizeof(*lock), sizeof(*lock), MPI_INFO_NULL, MPI_COMM_WORLD, &lock,
			 &window);
	*lock = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, window);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (rank % 2 == step % 2) {
			acquire(window);
			x = fault_work(x);
			if (!fault_is_now(rank, step))
				release(window);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_unlock_all(window);
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
