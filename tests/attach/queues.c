/* SPDX-License-Identifier: BSD-3-Clause
 * Four ranks or more, of which four leave receives without a message and messages without a
 * receive, say so, and wait outside MPI. queues.sh beside it knows what there is to be found. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LARGE (1 << 20) /* ints: more than is sent without an answer */

/* All are there, and who they are. */
static void report(int rank, int size)
{
	int pid = (int)getpid(), *pids = calloc((size_t)size, sizeof(*pids));

	MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, 0, MPI_COMM_WORLD);
	for (int i = 0; i < size && rank == 0; i++)
		printf("rank %d is %d\n", i, pids[i]);
	if (rank == 0)
		puts("ready");
	fflush(stdout);
	free(pids);
}

int main(int argc, char **argv)
{
	static int large[LARGE];
	MPI_Comm halo, reversed, half, other;
	MPI_Request requests[8];
	MPI_Status status;
	int rank, size, value = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_dup(MPI_COMM_WORLD, &halo);
	MPI_Comm_set_name(halo, "halo");
	MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
	MPI_Comm_set_name(reversed, "reversed");
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &other);
	MPI_Comm_set_name(other, "other");
	if (rank == 0) {
		/* No such message is sent. */
		MPI_Irecv(&value, 1, MPI_INT, 1, 7, halo, &requests[0]);
		MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 11, halo, &requests[1]);
		MPI_Irecv(&value, 1, MPI_INT, 3, MPI_ANY_TAG, halo, &requests[2]);
		/* World rank 3 is rank 1 of the other side, and 0 of the reversed communicator. */
		MPI_Irecv(&value, 1, MPI_INT, 1, 12, other, &requests[3]);
		/* When the last one is there so are the others. */
		MPI_Probe(1, 10, halo, &status);
		MPI_Probe(size - 4, 15, reversed, &status);
	} else if (rank == 1) {
		for (int i = 0; i < 3; i++)
			MPI_Send(&value, 1, MPI_INT, 0, 8, halo);
		MPI_Isend(large, LARGE, MPI_INT, 0, 9, halo, &requests[0]);
		MPI_Isend(&value, 1, MPI_INT, 0, 10, halo, &requests[1]);
	} else if (rank == 3) {
		MPI_Send(&value, 1, MPI_INT, size - 1, 15, reversed);
	}
	report(rank, size);
	for (;;)
		pause();
}
