/* SPDX-License-Identifier: BSD-3-Clause
 * As look_spin.c, with MPI_Compare_and_swap, in which Open MPI 4 crashes.
 * mpi: mpich
 * expect: kind=likely where=acquire
 * says: polling
 * ranks: 4:2 8:6 */
#include <mpi.h>

#include "fault.h"

static NOINLINE void acquire(MPI_Win window)
{
	long unlocked = 0, locked = 1, before;

	do {
		MPI_Compare_and_swap(&locked, &unlocked, &before, MPI_LONG, 0, 0, window);
		MPI_Win_flush(0, window);
	} while (before != unlocked);
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
