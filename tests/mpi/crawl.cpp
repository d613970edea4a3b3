// SPDX-License-Identifier: BSD-3-Clause
// Healthy, but slower and slower: one rank keeps a list that grows with every step and is searched in
// each, while all others wait for it.
// expect: none
// ranks: 4:-1 8:-1
#include <list>
#include <mpi.h>

#include "fault.h"

static std::list<int> ghosts;

static NOINLINE int find(int what)
{
	int num = 0;

	for (int ghost : ghosts)
		num += ghost == what;
	return num;
}

int main(int argc, char **argv)
{
	int rank, size;
	double x, sum;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		x += find((int)step);
		for (int i = 0; rank == size / 2 && i < 1000; i++)
			ghosts.push_back((int)step);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
