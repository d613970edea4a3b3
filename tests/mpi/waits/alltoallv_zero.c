/* SPDX-License-Identifier: BSD-3-Clause
 * Counts that differ: the faulty rank gives its right neighbour nothing, which expects one number.
 * Open MPI goes on all the same.
 * expect: kind=mismatch lp=R,R+1
 * says: MPI_Alltoallv; counts of rank {R} give rank {R+1} 0 bytes; expect 8 bytes of rank {R}
 * mpi: mpich
 * ranks: 4:1 8:4 */
#include <mpi.h>

#include "fault.h"

enum { MOST = 64 };

int main(int argc, char **argv)
{
	int rank, size, gives[MOST], takes[MOST], places[MOST];
	double out[MOST] = {0}, in[MOST] = {0};

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int r = 0; r < size; r++) {
		takes[r] = 1;
		places[r] = r;
	}
	for (long step = 0; step < fault_steps; step++) {
		bool is_now;

		fault_pause(rank, step);
		is_now = fault_is_now(rank, step);
		for (int r = 0; r < size; r++)
			gives[r] = is_now && r == rank + 1 ? 0 : 1;
		MPI_Alltoallv(out, gives, places, MPI_DOUBLE, in, takes, places, MPI_DOUBLE,
			      MPI_COMM_WORLD);
		out[0] = fault_work(in[size - 1]);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
