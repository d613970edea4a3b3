// SPDX-License-Identifier: BSD-3-Clause
// An exception ends the loop of one rank, whose handler calls MPI_Finalize; the others wait for it at
// the barrier.
// expect: kind=mismatch,left lp=R where=give_up
// says: MPI_Finalize; MPI_Barrier
// ranks: 4:1 8:6
#include <mpi.h>
#include <stdexcept>

#include "fault.h"

static NOINLINE double advance(int rank, long step, double x)
{
	if (fault_is_now(rank, step))
		throw std::runtime_error("negative density");
	return fault_work(x);
}

/* The result is needed after the call, or the call would be a jump and leave no frame. */
static NOINLINE int give_up()
{
	return MPI_Finalize() + 1;
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	double x = rank;
	try {
		for (long step = 0; step < fault_steps; step++) {
			fault_pause(rank, step);
			x = advance(rank, step, x);
			MPI_Bcast(&x, 1, MPI_DOUBLE, (int)(step % size), MPI_COMM_WORLD);
			MPI_Barrier(MPI_COMM_WORLD);
		}
	} catch (const std::exception &) {
		return give_up();
	}
	MPI_Finalize();
	return 0;
}
