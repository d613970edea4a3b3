/* SPDX-License-Identifier: BSD-3-Clause
 * Two windows locked in different order: ranks R-1 and R each take an exclusive lock of one window of
 * rank 0 and then of the other. The faulty one begins with the second, and both wait for each other.
 * expect: kind=deadlock lp=R-1,R where=add
 * says: lock
 * ranks: 4:2 8:5 */
#include <mpi.h>

#include "fault.h"

enum { WINDOW_SIZE = 4096 };

/* In the step of the fault both have their first lock before either asks for its second. */
static NOINLINE void add(double x, MPI_Win first, MPI_Win second, int partner)
{
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, first);
	MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, first);
	MPI_Win_flush(0, first);
	if (partner >= 0)
		MPI_Sendrecv_replace(&x, 1, MPI_DOUBLE, partner, 1, partner, 1, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, second);
	MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, second);
	MPI_Win_flush(0, second);
	MPI_Win_unlock(0, second);
	MPI_Win_unlock(0, first);
}

int main(int argc, char **argv)
{
	int rank;
	double x, *base[2];
	MPI_Win windows[2];

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 2; i++)
		MPI_Win_allocate(WINDOW_SIZE, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
				 &base[i], &windows[i]);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		bool is_bad = fault_rank > 0 && step == FAULT_STEP;
		int turned = fault_is_now(rank, step);

		fault_pause(rank, step);
		if (!is_bad || rank == fault_rank || rank == fault_rank - 1)
			add(x, windows[turned], windows[!turned],
			    is_bad ? 2 * fault_rank - 1 - rank : -1);
		x = fault_work(x);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_free(&windows[0]);
	MPI_Win_free(&windows[1]);
	MPI_Finalize();
	return 0;
}
