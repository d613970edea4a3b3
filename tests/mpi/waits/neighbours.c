/* SPDX-License-Identifier: BSD-3-Clause
 * A neighbourhood collective that one neighbour leaves out: only the two beside it wait for it
 * there, all others in the barrier behind.
 * expect: kind=deadlock,mismatch lp=R
 * says: MPI_Neighbor_allgather
 * ranks: 4:1 8:5 */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank, size, is_periodic = 1;
	double x, got[2] = {0};
	MPI_Comm ring;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_periodic, 0, &ring);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (!fault_is_now(rank, step))
			MPI_Neighbor_allgather(&x, 1, MPI_DOUBLE, got, 1, MPI_DOUBLE, ring);
		x = fault_work(got[0] + got[1]);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Comm_free(&ring);
	MPI_Finalize();
	return 0;
}
