/* SPDX-License-Identifier: BSD-3-Clause
 * A rank ends its process in the middle of the program, and the launcher was told to let the others
 * go on without it: they wait for it. MPICH's has no table of its ranks; there the segment that the
 * rank has left tells that it was there.
 * expect: kind=left lp=R gone=R
 * says: process has ended
 * ranks: 4:1 8:4
 * launch: openmpi4 --mca orte_allowed_exit_without_sync 1
 * launch: openmpi5 --prtemca prte_allowed_exit_without_sync 1
 * launch: mpich -disable-auto-cleanup */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank;
	double x, sum;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (fault_is_now(rank, step))
			_exit(0);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
