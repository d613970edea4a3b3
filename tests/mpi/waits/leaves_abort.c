/* SPDX-License-Identifier: BSD-3-Clause
 * A rank gives up by MPI_Abort: the launcher ends all the others, and there is no job to look at.
 * expect: kind=ended
 * ranks: 4:2 */
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
			MPI_Abort(MPI_COMM_WORLD, 3);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
