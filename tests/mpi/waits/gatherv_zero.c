/* SPDX-License-Identifier: BSD-3-Clause
 * Counts that differ: the faulty rank has nothing to give, and the root waits for its part.
 * expect: kind=mismatch lp=0,R
 * says: MPI_Gatherv; counts of rank {R} give rank 0 0 bytes; expect 8 bytes of rank {R}
 * ranks: 4:2 8:5 */
#include <mpi.h>

#include "fault.h"

enum { MOST = 64 };

int main(int argc, char **argv)
{
	int rank, size, counts[MOST], places[MOST];
	double x, all[MOST] = {0};

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int r = 0; r < size; r++) {
		counts[r] = 1;
		places[r] = r;
	}
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		MPI_Gatherv(&x, fault_is_now(rank, step) ? 0 : 1, MPI_DOUBLE, all, counts, places,
			    MPI_DOUBLE, 0, MPI_COMM_WORLD);
		x = fault_work(x + all[0]);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
