/* SPDX-License-Identifier: BSD-3-Clause
 * Four ranks that make no communicators, of which rank 2 leaves a receive without a message;
 * they say so and wait outside MPI. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static int value, pids[4];
	int pid = (int)getpid(), rank;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 2)
		MPI_Irecv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
	MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, 0, MPI_COMM_WORLD);
	for (int i = 0; i < 4 && rank == 0; i++)
		printf("rank %d is %d\n", i, pids[i]);
	if (rank == 0)
		puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
