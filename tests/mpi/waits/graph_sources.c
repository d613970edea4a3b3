/* SPDX-License-Identifier: BSD-3-Clause
 * A graph whose members do not fit together: a new one is made in each step, and the faulty rank
 * leaves its right neighbour out of its destinations.
 * expect: kind=mismatch lp=R,R+1
 * says: MPI_Neighbor_allgather; rank {R+1} lists rank {R} as a source; does not list rank {R+1} as a destination
 * ranks: 4:1 8:5 */
#include <mpi.h>

#include "fault.h"

static NOINLINE MPI_Comm build(int rank, int size, bool is_wrong)
{
	int to[2] = {(rank + size - 1) % size, (rank + 1) % size}, ones[2] = {1, 1};
	MPI_Comm ring;

	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, to, ones, is_wrong ? 1 : 2, to, ones,
				       MPI_INFO_NULL, 0, &ring);
	return ring;
}

int main(int argc, char **argv)
{
	int rank, size;
	double x, got[2] = {0};

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		MPI_Comm ring = build(rank, size, fault_is_now(rank, step));

		fault_pause(rank, step);
		MPI_Neighbor_allgather(&x, 1, MPI_DOUBLE, got, 1, MPI_DOUBLE, ring);
		x = fault_work(got[0] + got[1]);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Comm_free(&ring);
	}
	MPI_Finalize();
	return 0;
}
