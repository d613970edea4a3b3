/* SPDX-License-Identifier: BSD-3-Clause
 * A message sent in the wrong communicator: halos go over one that the program made for them, but
 * the faulty rank sends one over MPI_COMM_WORLD, where nobody receives it.
 * expect: kind=lost lp=R
 * says: rank {R+1}; halo; MPI_Recv
 * ranks: 4:2 8:3 */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank, size;
	double x, got, sum;
	MPI_Comm halo;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &halo);
	MPI_Comm_set_name(halo, "halo");
	MPI_Comm_rank(halo, &rank);
	MPI_Comm_size(halo, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		MPI_Comm comm = fault_is_now(rank, step) ? MPI_COMM_WORLD : halo;

		fault_pause(rank, step);
		MPI_Send(&x, 1, MPI_DOUBLE, (rank + 1) % size, 7, comm);
		MPI_Recv(&got, 1, MPI_DOUBLE, (rank + size - 1) % size, 7, halo, MPI_STATUS_IGNORE);
		MPI_Allreduce(&got, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Comm_free(&halo);
	MPI_Finalize();
	return 0;
}
