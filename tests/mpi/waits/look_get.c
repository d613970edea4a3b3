/* SPDX-License-Identifier: BSD-3-Clause
 * A step that is not published: each rank puts the number of its step into the window of its right
 * neighbour, which locks, gets and unlocks its own until it is there. The faulty rank leaves that
 * out, so its neighbour looks for ever and all others wait for that one.
 * expect: kind=likely lp=R+1 where=await
 * says: polls; window
 * ranks: 4:2 8:5 */
#include <mpi.h>

#include "fault.h"

static NOINLINE void await(int rank, long step, MPI_Win window)
{
	long got;

	do {
		MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
		MPI_Get(&got, 1, MPI_LONG, rank, 0, 1, MPI_LONG, window);
		MPI_Win_unlock(rank, window);
	} while (got < step);
}

static void publish(int rank, long step, MPI_Win window)
{
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
	MPI_Put(&step, 1, MPI_LONG, rank, 0, 1, MPI_LONG, window);
	MPI_Win_unlock(rank, window);
}

int main(int argc, char **argv)
{
	int rank, size;
	double x;
	long *number;
	MPI_Win window;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	/* MPICH gives ranks of one node the same memory for less than a page. */
	MPI_Win_allocate(4096, sizeof(*number), MPI_INFO_NULL, MPI_COMM_WORLD, &number, &window);
	*number = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		x = fault_work(x);
		if (!fault_is_now(rank, step))
			publish((rank + 1) % size, step + 1, window);
		await(rank, step + 1, window);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
