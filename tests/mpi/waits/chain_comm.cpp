// SPDX-License-Identifier: BSD-3-Clause
// A running sum along a chain that is received over the communicator of a decomposition. The faulty rank
// sends it on over MPI_COMM_WORLD, where nobody receives it; all behind it wait.
// expect: kind=lost lp=R
// says: rank {R+1}; tag 99; domain; MPI_COMM_WORLD
// ranks: 5:1 8:3
#include <mpi.h>

#include "fault.h"

struct Decomposition {
	MPI_Comm comm;

	Decomposition()
	{
		MPI_Comm_dup(MPI_COMM_WORLD, &comm);
		MPI_Comm_set_name(comm, "domain");
	}
};

static NOINLINE long number(Decomposition &domain, long mine, int rank, int size, long step)
{
	long before = 0, after;

	if (rank > 0)
		MPI_Recv(&before, 1, MPI_LONG, rank - 1, 99, domain.comm, MPI_STATUS_IGNORE);
	after = before + mine;
	if (rank < size - 1)
		MPI_Send(&after, 1, MPI_LONG, rank + 1, 99,
			 fault_is_now(rank, step) ? MPI_COMM_WORLD : domain.comm);
	return before;
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	Decomposition domain;
	double x = rank, sum;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		x += number(domain, 10 + rank, rank, size, step) % 3;
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, domain.comm);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
