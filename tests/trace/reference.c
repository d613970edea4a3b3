/* SPDX-License-Identifier: BSD-3-Clause
 * Calls MPI in loops within loops and writes down itself what it calls, as far as the recorder
 * looks at it (MPI_Comm_rank is none), one name on each line of the file OUT.RANK; then it waits in
 * MPI_Recv for a message that never comes.
 *
 * usage: reference OUT ROUNDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *out;

#define CALL(name, ...)                                                                            \
	do {                                                                                       \
		fprintf(out, "%s\n", #name);                                                       \
		MPI_##name(__VA_ARGS__);                                                           \
	} while (0)

/* Around a ring: to the next rank, from the one before. */
static void exchange(int rank, int size, int times)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	int from, to = rank;

	for (int i = 0; i < times; i++) {
		CALL(Irecv, &from, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
		     &requests[0]);
		CALL(Isend, &to, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
		CALL(Waitall, 2, requests, statuses);
	}
}

/* Only polls that succeed are events. */
static void poll_for_barrier(void)
{
	MPI_Request request;
	int done = 0;

	CALL(Ibarrier, MPI_COMM_WORLD, &request);
	while (!done)
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
	fprintf(out, "Test\n");
}

int main(int argc, char **argv)
{
	int rank, size, rounds = argc > 2 ? atoi(argv[2]) : 10, sum;
	char path[1000];
	FILE *file;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(path, sizeof(path), "%s.%d", argv[1], rank);
	out = fopen(path, "w");
	if (!out)
		MPI_Abort(MPI_COMM_WORLD, 1);
	fprintf(out, "Init\n");
	for (int i = 0; i < rounds; i++) {
		exchange(rank, size, 4);
		for (int k = 0; k < 3; k++)
			CALL(Allreduce, &rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (i % 7 == 3)
			poll_for_barrier();
		exchange(rank, size, 1 + i % 2);
	}
	CALL(Barrier, MPI_COMM_WORLD);
	fprintf(out, "Recv\n");
	file = out;
	out = NULL;
	fclose(file);
	MPI_Recv(&sum, 1, MPI_INT, (rank + 1) % size, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
