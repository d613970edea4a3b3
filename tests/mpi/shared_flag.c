/* SPDX-License-Identifier: BSD-3-Clause
 * Memory shared by ranks: each raises its right neighbour's flag and spins until its own is raised,
 * without any call. The faulty rank does not raise it: what can be seen is that its neighbour spins.
 * expect: lp=R+1 kind=computation where=await
 * ranks: 4:1 8:5 */
#include <mpi.h>

#include "fault.h"

enum { WINDOW_SIZE = 4096, FAULTY_STEP = 12 };

static NOINLINE void await(const volatile long *flag, long value)
{
	while (*flag < value)
		;
}

int main(int argc, char **argv)
{
	int rank, size, unit;
	long *mine;
	volatile long *right;
	double x;
	void *base;
	MPI_Aint num;
	MPI_Win window;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate_shared(WINDOW_SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
	MPI_Win_shared_query(window, (rank + 1) % size, &num, &unit, &base);
	right = base;
	*mine = -1;
	MPI_Barrier(MPI_COMM_WORLD);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		x = fault_work(x);
		if (rank == fault_rank && step == FAULTY_STEP)
			fault_announce(rank);
		else
			*right = step;
		await(mine, step);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
