// SPDX-License-Identifier: BSD-3-Clause
// A shift by another distance: in a ring of ranks the faulty one sends to its right neighbour's right
// neighbour and waits for what its left neighbour's left neighbour sends to somebody else.
// expect: kind=lost,deadlock lp=R
// says: MPI_Sendrecv; tag 6
// ranks: 5:1 8:4
#include <mpi.h>

#include "fault.h"

static NOINLINE double shift(MPI_Comm ring, double x, int distance)
{
	int from, to;
	double got;

	MPI_Cart_shift(ring, 0, distance, &from, &to);
	MPI_Sendrecv(&x, 1, MPI_DOUBLE, to, 6, &got, 1, MPI_DOUBLE, from, 6, ring,
		     MPI_STATUS_IGNORE);
	return got;
}

int main(int argc, char **argv)
{
	int rank, size, is_periodic = 1;
	MPI_Comm ring;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_periodic, 0, &ring);
	MPI_Comm_rank(ring, &rank);
	double x = rank, sum;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		x = fault_work(shift(ring, x, fault_is_now(rank, step) ? 2 : 1));
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, ring);
	}
	MPI_Comm_free(&ring);
	MPI_Finalize();
	return 0;
}
