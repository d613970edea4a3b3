/* SPDX-License-Identifier: BSD-3-Clause
 * A collective that one rank leaves with an error, which the program ignores: it has no operation.
 * expect: kind=mismatch lp=R
 * says: MPI_Allreduce; rank {R}; left it with an error; MPI_ERR_OP
 * ranks: 4:1 8:6 */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank;
	double x, sum = 0;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		MPI_Op op = fault_is_now(rank, step) ? MPI_OP_NULL : MPI_SUM;

		fault_pause(rank, step);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
		x = fault_work(sum);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
