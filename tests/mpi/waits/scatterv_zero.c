/* SPDX-License-Identifier: BSD-3-Clause
 * Counts that differ: the root has nothing for the faulty rank, which expects as much as ever. The
 * root and all others are done with it and wait in the barrier behind.
 * expect: kind=mismatch lp=0,R
 * says: MPI_Scatterv; give rank {R} 0 bytes; expect 32 bytes of rank 0
 * ranks: 4:1 8:6 */
#include <mpi.h>

#include "fault.h"

enum { EACH = 4, MOST = 64 };

static NOINLINE double deal(int rank, int size, long step)
{
	int counts[MOST], places[MOST];
	double all[MOST * EACH], own[EACH] = {0};

	for (int r = 0; r < size; r++) {
		counts[r] = r == fault_rank && step == FAULT_STEP ? 0 : EACH;
		places[r] = EACH * r;
	}
	for (int i = 0; i < size * EACH; i++)
		all[i] = rank + i;
	MPI_Scatterv(all, counts, places, MPI_DOUBLE, own, EACH, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	return own[0];
}

int main(int argc, char **argv)
{
	int rank, size;
	double x;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		fault_is_now(rank, step);
		x = fault_work(x + deal(rank, size, step));
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
