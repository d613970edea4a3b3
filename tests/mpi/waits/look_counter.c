/* SPDX-License-Identifier: BSD-3-Clause
 * A counter that does not get its value: all others add to it in the window of rank 0, which looks
 * with MPI_Fetch_and_op until all have, and meet it at a barrier. The faulty rank leaves its part out.
 * Rank 0 looks for ever, which is no progress, though nobody knows that it could not stop doing so.
 * expect: kind=likely lp=0 where=await
 * says: polls; window
 * ranks: 4:2 8:5 */
#include <mpi.h>

#include "fault.h"

static NOINLINE void await(long wanted, MPI_Win window)
{
	long zero = 0, got = 0;

	do {
		MPI_Fetch_and_op(&zero, &got, MPI_LONG, 0, 0, MPI_NO_OP, window);
		MPI_Win_flush(0, window);
	} while (got < wanted);
}

static void report(MPI_Win window)
{
	long one = 1;

	MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, window);
	MPI_Win_flush(0, window);
}

int main(int argc, char **argv)
{
	int rank, size;
	double x;
	long *counter;
	MPI_Win window;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate(sizeof(*counter), sizeof(*counter), MPI_INFO_NULL, MPI_COMM_WORLD,
			 &counter, &window);
	*counter = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, window);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		x = fault_work(x);
		if (rank > 0 && !fault_is_now(rank, step))
			report(window);
		if (rank == 0)
			await((step + 1) * (size - 1), window);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_unlock_all(window);
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
