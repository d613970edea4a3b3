/* SPDX-License-Identifier: BSD-3-Clause
 * One-sided with MPI_Win_post, start, complete and wait: everybody puts a value to the right. The
 * faulty rank starts its access to the one behind that, which has not posted to it. (MPICH lets it go
 * on with the post of another.)
 * expect: kind=lost lp=R
 * says: rank {R+2}; MPI_Win_post; MPI_Win_start; its group seems to be wrong; likely
 * ranks: 4:1 8:5
 * mpi: openmpi */
#include <mpi.h>

#include "fault.h"

static MPI_Group group_of(int rank)
{
	MPI_Group world, group;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &rank, &group);
	MPI_Group_free(&world);
	return group;
}

int main(int argc, char **argv)
{
	int rank, size;
	static double got; /* not on the stack: there MPICH 4.0.2 puts into what lies beside it */
	double x;
	MPI_Win window;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_create(&got, sizeof(got), sizeof(got), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		int target = (rank + (fault_is_now(rank, step) ? 2 : 1)) % size;
		MPI_Group left = group_of((rank + size - 1) % size), right = group_of(target);

		fault_pause(rank, step);
		MPI_Win_post(left, 0, window);
		MPI_Win_start(right, 0, window);
		MPI_Put(&x, 1, MPI_DOUBLE, target, 0, 1, MPI_DOUBLE, window);
		MPI_Win_complete(window);
		MPI_Win_wait(window);
		MPI_Group_free(&left);
		MPI_Group_free(&right);
		x = fault_work(got);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
