/* SPDX-License-Identifier: BSD-3-Clause
 * A collective that one rank leaves with an error, which it ignores: it is at the barrier, and the
 * others wait for it in MPI_Allreduce.
 * expect: kind=deadlock,mismatch lp=R
 * says: MPI_Allreduce; MPI_Barrier; error|failed
 * ranks: 4:2 8:5
 * mpi: openmpi */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank;
	double x, sum;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		MPI_Allreduce(&x, &sum, fault_is_now(rank, step) ? -1 : 1, MPI_DOUBLE, MPI_SUM,
			      MPI_COMM_WORLD);
		x = fault_work(sum);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
