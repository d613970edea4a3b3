// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where each rank is: "rank 1 of 4 on b, pid 17", printed by that rank. All have spoken with all
 * before one prints.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, size;
	char host[256];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);

	int mine[size], theirs[size];

	for (int i = 0; i < size; i++)
		mine[i] = rank;
	MPI_Alltoall(mine, 1, MPI_INT, theirs, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++)
		if (theirs[i] != i)
			MPI_Abort(MPI_COMM_WORLD, 1);
	gethostname(host, sizeof(host));
	printf("rank %d of %d on %s, pid %d\n", rank, size, host, (int)getpid());
	MPI_Finalize();
	return 0;
}
