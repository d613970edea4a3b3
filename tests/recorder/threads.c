/* SPDX-License-Identifier: BSD-3-Clause
 * Threads of two ranks that exchange messages with each other all at the same time, each thread
 * with tags of its own. MPI gives handles of requests and messages that one thread has completed
 * to the others at once. */
#include "checkpoint.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUM_THREADS = 4, TIMES = 300 };

static int other;

static void *exchange(void *number)
{
	int tag = *(int *)number, in, matched, out = 1;
	MPI_Request requests[2];
	MPI_Message message;

	for (int i = 0; i < TIMES; i++) {
		MPI_Irecv(&in, 1, MPI_INT, other, tag, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(&out, 1, MPI_INT, other, tag, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		MPI_Isend(&out, 1, MPI_INT, other, tag + 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Mprobe(other, tag + 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
		MPI_Imrecv(&matched, 1, MPI_INT, &message, &requests[1]);
		MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[NUM_THREADS];
	int tags[NUM_THREADS], rank, provided;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	if (provided != MPI_THREAD_MULTIPLE)
		abort();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	other = 1 - rank;
	for (int i = 0; i < NUM_THREADS; i++) {
		tags[i] = 10 * i;
		pthread_create(&threads[i], NULL, exchange, &tags[i]);
	}
	for (int i = 0; i < NUM_THREADS; i++)
		pthread_join(threads[i], NULL);
	checkpoint();
	MPI_Finalize();
	return 0;
}
