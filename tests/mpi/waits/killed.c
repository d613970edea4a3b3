/* SPDX-License-Identifier: BSD-3-Clause
 * A rank is killed in the middle of the program, and the launcher was told to let the others go on
 * without it: they wait for it. MPICH's launcher ends then.
 * expect: kind=left lp=R gone=R
 * says: process has ended|killed by
 * ranks: 4:1 8:4
 * mpi: openmpi
 * launch: openmpi4 --mca orte_allowed_exit_without_sync 1 --mca orte_abort_on_non_zero_status 0
 * launch: openmpi5 --runtime-options recoverable */
#include <mpi.h>
#include <signal.h>

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
			kill(getpid(), SIGKILL);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
