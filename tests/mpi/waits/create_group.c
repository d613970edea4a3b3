/* SPDX-License-Identifier: BSD-3-Clause
 * A communicator of a group that one of its members does not help to make: all but the last rank are
 * to call MPI_Comm_create_group, and the faulty one goes on to the barrier, where the last is, too.
 * expect: kind=lost,deadlock lp=R
 * says: MPI_Comm_create_group; MPI_Barrier
 * ranks: 4:1 8:5 */
#include <mpi.h>

#include "fault.h"

int main(int argc, char **argv)
{
	int rank, size, last;
	MPI_Group world, group;
	MPI_Comm comm;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	last = size - 1;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_excl(world, 1, &last, &group);
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (rank != last && !fault_is_now(rank, step)) {
			MPI_Comm_create_group(MPI_COMM_WORLD, group, 4, &comm);
			MPI_Comm_free(&comm);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	MPI_Finalize();
	return 0;
}
