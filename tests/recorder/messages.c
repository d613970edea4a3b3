/* SPDX-License-Identifier: BSD-3-Clause
 * Messages and requests of every sort between two ranks. What the ledger must say is counted here,
 * beside each call, and written to $CHECK_DIR/truth.RANK in the words of dump_segment.py. The word
 * says in what the program ends: an operation that cannot go on before the other rank goes on. */
#include "checkpoint.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 64, BIG = 1 << 20 };

static int rank, other;
static char big[BIG];

/* ---- The truth ---- */

static struct row {
	int comm; /* 0: MPI_COMM_WORLD, 1: MPI_COMM_SELF */
	int peer, tag;
	int cancelled, sends, sends_done, receives, receives_done, taken;
} rows[MAX_ROWS];
static int num_rows;

static struct row *row(int comm, int peer, int tag)
{
	for (int i = 0; i < num_rows; i++)
		if (rows[i].comm == comm && rows[i].peer == peer && rows[i].tag == tag)
			return &rows[i];
	rows[num_rows] = (struct row){.comm = comm, .peer = peer, .tag = tag};
	return &rows[num_rows++];
}

static void sent(int comm, int peer, int tag)
{
	row(comm, peer, tag)->sends++;
	row(comm, peer, tag)->sends_done++;
}

static void received(int comm, int peer, int tag)
{
	row(comm, peer, tag)->receives++;
	row(comm, peer, tag)->receives_done++;
}

static const char *name_of(int value, char *text)
{
	if (value == MPI_ANY_SOURCE || value == MPI_ANY_TAG)
		return "any";
	sprintf(text, "%d", value);
	return text;
}

static void write_truth(void)
{
	char path[1000], peer[16], tag[16];

	snprintf(path, sizeof(path), "%s/truth.%d", getenv("CHECK_DIR"), rank);
	FILE *f = fopen(path, "w");
	for (int i = 0; i < num_rows; i++)
		fprintf(f,
			"ledger: comm %d peer %s tag %s cancelled %d sends %d/%d receives %d/%d "
			"taken %d\n",
			rows[i].comm, name_of(rows[i].peer, peer), name_of(rows[i].tag, tag),
			rows[i].cancelled, rows[i].sends, rows[i].sends_done, rows[i].receives,
			rows[i].receives_done, rows[i].taken);
	fclose(f);
}

/* ---- The calls
 * ----------------------------------------------------------------------------------- */

static void blocking(void)
{
	MPI_Status status;
	char buffer[1000], attached[1000 + MPI_BSEND_OVERHEAD];
	int n = 7;

	for (int i = 0; i < 3; i++) {
		if (rank == 0)
			MPI_Send(&n, 1, MPI_INT, 1, 10, MPI_COMM_WORLD);
		else
			MPI_Recv(&n, 1, MPI_INT, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		rank == 0 ? sent(0, 1, 10) : received(0, 0, 10);
	}
	MPI_Buffer_attach(attached, sizeof(attached));
	if (rank == 0) {
		MPI_Bsend(&n, 1, MPI_INT, 1, 11, MPI_COMM_WORLD);
		sent(0, 1, 11);
		MPI_Ssend(&n, 1, MPI_INT, 1, 12, MPI_COMM_WORLD);
		sent(0, 1, 12);
		MPI_Send(big, BIG, MPI_CHAR, 1, 13, MPI_COMM_WORLD);
		sent(0, 1, 13);
	} else {
		/* Wildcards: any source, any tag, both; with a status and without. */
		MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		received(0, MPI_ANY_SOURCE, 11);
		row(0, 0, 11)->taken++;
		MPI_Recv(&n, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		received(0, 0, MPI_ANY_TAG);
		row(0, 0, 12)->taken++;
		MPI_Recv(big, BIG, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		received(0, MPI_ANY_SOURCE, MPI_ANY_TAG);
		row(0, 0, 13)->taken++;
	}
	MPI_Buffer_detach(&buffer, &n);
	MPI_Sendrecv(&rank, 1, MPI_INT, other, 14, &n, 1, MPI_INT, MPI_ANY_SOURCE, 14,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	sent(0, other, 14);
	received(0, MPI_ANY_SOURCE, 14);
	row(0, other, 14)->taken++;
	MPI_Sendrecv_replace(&n, 1, MPI_INT, other, 15, other, 15, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
	sent(0, other, 15);
	received(0, other, 15);
	/* Nobody: not counted. */
	MPI_Send(&n, 1, MPI_INT, MPI_PROC_NULL, 16, MPI_COMM_WORLD);
	MPI_Recv(&n, 1, MPI_INT, MPI_PROC_NULL, 16, MPI_COMM_WORLD, &status);
	MPI_Sendrecv(&n, 1, MPI_INT, 0, 17, buffer, 1, MPI_INT, 0, 17, MPI_COMM_SELF, &status);
	sent(1, 0, 17);
	received(1, 0, 17);
}

/* Refused calls do not count, truncated messages do. */
static void errors(void)
{
	int n[2] = {1, 2}, short_of_it;

	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Send(n, 1, MPI_INT, 5, 20, MPI_COMM_SELF);
	MPI_Request request;
	MPI_Isend(n, 2, MPI_INT, 0, 21, MPI_COMM_SELF, &request);
	sent(1, 0, 21);
	MPI_Recv(&short_of_it, 1, MPI_INT, 0, 21, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	received(1, 0, 21);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	/* One of four fails: truncated, and the others with it are waited for again. */
	MPI_Request requests[4];
	int values[2];
	for (int i = 0; i < 2; i++) {
		MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 22 + i, MPI_COMM_SELF,
			  &requests[i]);
		received(1, MPI_ANY_SOURCE, 22 + i);
		MPI_Isend(n, 2 - i, MPI_INT, 0, 22 + i, MPI_COMM_SELF, &requests[2 + i]);
		sent(1, 0, 22 + i);
		row(1, 0, 22 + i)->taken++;
	}
	/* MPICH asks the world's handler. */
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	while (MPI_Waitall(4, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
		;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

#if MPI_VERSION >= 4
static void since_mpi_4(void)
{
	MPI_Request requests[2];
	int in[4], out[4] = {1, 2, 3, 4};

	MPI_Isendrecv(out, 1, MPI_INT, other, 25, in, 1, MPI_INT, other, 25, MPI_COMM_WORLD,
		      &requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	sent(0, other, 25);
	received(0, other, 25);
	MPI_Isendrecv_replace(out, 1, MPI_INT, other, 26, other, 26, MPI_COMM_WORLD, &requests[0]);
	MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
	sent(0, other, 26);
	received(0, other, 26);
	MPI_Send_c(out, 4, MPI_INT, MPI_PROC_NULL, 27, MPI_COMM_WORLD);
	MPI_Sendrecv_c(out, 4, MPI_INT, other, 27, in, 4, MPI_INT, other, 27, MPI_COMM_WORLD,
		       MPI_STATUS_IGNORE);
	sent(0, other, 27);
	received(0, other, 27);
	/* Two partitions. */
	MPI_Psend_init(out, 2, 2, MPI_INT, other, 28, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
	MPI_Precv_init(in, 2, 2, MPI_INT, other, 28, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
	for (int i = 0; i < 2; i++) {
		MPI_Startall(2, requests);
		MPI_Pready_range(0, 1, requests[0]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		sent(0, other, 28);
		received(0, other, 28);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}
#endif

static void nonblocking(void)
{
	enum { N = 6 };
	MPI_Request requests[2 * N];
	MPI_Status statuses[2 * N];
	int values[2 * N], index, flag, outcount, indices[2 * N];

	for (int way = 0; way < 8; way++) {
		for (int i = 0; i < N; i++) {
			MPI_Irecv(&values[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : other, 30 + i,
				  MPI_COMM_WORLD, &requests[i]);
			received(0, i % 2 ? MPI_ANY_SOURCE : other, 30 + i);
			if (i % 2)
				row(0, other, 30 + i)->taken++;
			MPI_Isend(&values[N + i], 1, MPI_INT, other, 30 + i, MPI_COMM_WORLD,
				  &requests[N + i]);
			sent(0, other, 30 + i);
		}
		int left = 2 * N;
		switch (way) {
		case 0:
			MPI_Waitall(left, requests, MPI_STATUSES_IGNORE);
			break;
		case 1:
			MPI_Waitall(left, requests, statuses);
			break;
		case 2:
			for (; left > 0; left--)
				MPI_Waitany(2 * N, requests, &index, MPI_STATUS_IGNORE);
			break;
		case 3:
			for (; left > 0; left -= outcount)
				MPI_Waitsome(2 * N, requests, &outcount, indices,
					     MPI_STATUSES_IGNORE);
			break;
		case 4:
			do
				MPI_Testall(left, requests, &flag, MPI_STATUSES_IGNORE);
			while (!flag);
			break;
		case 5:
			for (; left > 0; left -= flag)
				MPI_Testany(2 * N, requests, &index, &flag, statuses);
			break;
		case 6:
			for (; left > 0; left -= outcount)
				MPI_Testsome(2 * N, requests, &outcount, indices, statuses);
			break;
		case 7:
			for (int i = 0; i < 2 * N; i++) {
				MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
				do
					MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
				while (!flag);
			}
			break;
		}
	}
	/* Complete at once, many with one handle. */
	for (int i = 0; i < 2 * N; i++)
		MPI_Isend(values, 1, MPI_INT, MPI_PROC_NULL, 36, MPI_COMM_WORLD, &requests[i]);
	MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
}

static void persistent(void)
{
	MPI_Request requests[2];
	int in, out = 3;

	MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 40, MPI_COMM_WORLD, &requests[0]);
	MPI_Send_init(&out, 1, MPI_INT, other, 40, MPI_COMM_WORLD, &requests[1]);
	for (int i = 0; i < 4; i++) {
		if (i % 2) {
			MPI_Start(&requests[0]);
			MPI_Start(&requests[1]);
		} else {
			MPI_Startall(2, requests);
		}
		received(0, MPI_ANY_SOURCE, 40);
		row(0, other, 40)->taken++;
		sent(0, other, 40);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* inactive: nothing */
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}

static void matched(void)
{
	MPI_Message message;
	MPI_Request request;
	MPI_Status status;
	int n = 1, flag = 0;

	if (rank == 0) {
		for (int i = 0; i < 3; i++)
			MPI_Send(&n, 1, MPI_INT, 1, 50 + i, MPI_COMM_WORLD);
		for (int i = 0; i < 3; i++)
			sent(0, 1, 50 + i);
		return;
	}
	MPI_Probe(0, 50, MPI_COMM_WORLD, &status);
	MPI_Mprobe(MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(&n, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	MPI_Mprobe(0, 51, MPI_COMM_WORLD, &message, &status);
	MPI_Imrecv(&n, 1, MPI_INT, &message, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	while (!flag)
		MPI_Improbe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(&n, 1, MPI_INT, &message, &status);
	for (int i = 0; i < 3; i++)
		row(0, 0, 50 + i)->taken++;
}

static void cancelled(void)
{
	MPI_Request request;
	int n;

	MPI_Irecv(&n, 1, MPI_INT, other, 60, MPI_COMM_WORLD, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	row(0, other, 60)->receives++;
	row(0, other, 60)->cancelled++;
	/* Freed while active. */
	MPI_Isend(&n, 1, MPI_INT, other, 61, MPI_COMM_WORLD, &request);
	MPI_Request_free(&request);
	sent(0, other, 61);
	MPI_Recv(&n, 1, MPI_INT, other, 61, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	received(0, other, 61);
}

/* ---- Threads: requests that one starts and another completes
 * ------------------------------------------ */

enum { THREADS = 4, REQUESTS = 20 };
static MPI_Request handed_over[THREADS][2 * REQUESTS];
static int thread_values[THREADS][2 * REQUESTS];
static pthread_barrier_t all_started;

static void *thread_calls(void *number)
{
	int me = *(int *)number, next = (me + 1) % THREADS, tag = 80 + me;

	for (int round = 0; round < 30; round++) {
		for (int i = 0; i < REQUESTS; i++) {
			MPI_Irecv(&thread_values[me][i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : other,
				  tag, MPI_COMM_WORLD, &handed_over[me][i]);
			MPI_Isend(&thread_values[me][REQUESTS + i], 1, MPI_INT, other, tag,
				  MPI_COMM_WORLD, &handed_over[me][REQUESTS + i]);
		}
		pthread_barrier_wait(&all_started);
		MPI_Waitall(2 * REQUESTS, handed_over[next], MPI_STATUSES_IGNORE);
		pthread_barrier_wait(&all_started);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t ids[THREADS];
	int numbers[THREADS];

	pthread_barrier_init(&all_started, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		pthread_create(&ids[i], NULL, thread_calls, &numbers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < THREADS; i++)
		for (int round = 0; round < 30; round++)
			for (int j = 0; j < REQUESTS; j++) {
				sent(0, other, 80 + i);
				received(0, j % 2 ? MPI_ANY_SOURCE : other, 80 + i);
				row(0, other, 80 + i)->taken += j % 2;
			}
}

/* ---- The end: rank 1 cannot go on before rank 0 does
 * ------------------------------------------------ */

static void last_operation(const char *what)
{
	MPI_Request requests[3];
	MPI_Status status;
	int n = 0, values[3], flag = 0;

	if (rank == 0) {
		checkpoint();
		if (strcmp(what, "send") == 0)
			MPI_Recv(big, BIG, MPI_CHAR, 1, 70, MPI_COMM_WORLD, &status);
		else
			for (int i = 0; i < 3; i++)
				MPI_Send(&n, 1, MPI_INT, 1, 70 + i, MPI_COMM_WORLD);
		return;
	}
	write_truth();
	if (strcmp(what, "send") == 0) {
		MPI_Ssend(big, BIG, MPI_CHAR, 0, 70, MPI_COMM_WORLD);
		return;
	}
	if (strcmp(what, "recv") == 0)
		MPI_Recv(&n, 1, MPI_INT, 0, 70, MPI_COMM_WORLD, &status);
	else if (strcmp(what, "probe") == 0)
		MPI_Probe(MPI_ANY_SOURCE, 70, MPI_COMM_WORLD, &status);
	/* Newer MPICH ends a program that leaves messages behind: what is left is received. */
	int first = strcmp(what, "recv") == 0;
	for (int i = first; i < 3; i++)
		MPI_Irecv(&values[i], 1, MPI_INT, 0, 70 + i, MPI_COMM_WORLD, &requests[i]);
	if (strcmp(what, "waitany") == 0)
		MPI_Waitany(3, requests, &n, &status);
	while (strcmp(what, "testall") == 0 && !flag)
		MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
	MPI_Waitall(3 - first, requests + first, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	bool has_threads = argc > 1 && strcmp(argv[1], "threads") == 0;
	int provided;

	MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
			&provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	other = 1 - rank;
	if (has_threads) {
		threads();
		write_truth();
		checkpoint();
	} else if (argc > 1) {
		last_operation(argv[1]);
	} else {
		blocking();
		errors();
#if MPI_VERSION >= 4
		since_mpi_4();
#endif
		nonblocking();
		persistent();
		matched();
		cancelled();
		write_truth();
		checkpoint();
	}
	MPI_Finalize();
	return 0;
}
