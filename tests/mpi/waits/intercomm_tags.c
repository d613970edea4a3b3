/* SPDX-License-Identifier: BSD-3-Clause
 * Two halves make an intercommunicator in each step; the leader of the upper one has another tag.
 * expect: kind=mismatch lp=0,R
 * says: MPI_Intercomm_create; rank 0 has tag 7, rank {R} tag 8
 * ranks: 4:2 8:4 */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank, size, half;
	double x, sum;
	MPI_Comm own, both;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	half = size / 2;
	MPI_Comm_split(MPI_COMM_WORLD, rank / half, rank, &own);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank < half ? half : 0,
				     fault_is_now(rank, step) ? 8 : 7, &both);
		MPI_Comm_free(&both);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, own);
		x = fault_work(sum);
	}
	MPI_Comm_free(&own);
	MPI_Finalize();
	return 0;
}
