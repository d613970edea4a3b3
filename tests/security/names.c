/* SPDX-License-Identifier: BSD-3-Clause
 * Two ranks that hang, with names that a terminal or a browser would obey. What they call their
 * communicator may be an argument. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* A thread, whose names are asked for when it is looked at. */
static void *help(void *argument)
{
	while (!argument)
		pause();
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t helper;
	MPI_Comm comm;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_name(comm, argc > 1 ? argv[1] : "\033]0;owned\007<script>alert(1)</script>\"");
	pthread_create(&helper, NULL, help, NULL);
	printf("rank %d is ready\n", rank);
	fflush(stdout);
	while (rank == 0)
		pause();
	MPI_Barrier(comm);
	MPI_Finalize();
	return 0;
}
