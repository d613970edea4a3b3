/* SPDX-License-Identifier: BSD-3-Clause
 * Calls MPI in loops within loops and writes down itself what it calls, as far as the recorder
 * looks at it (MPI_Comm_rank is none), one name on each line of the file OUT.RANK.THREAD; then
 * it waits in MPI_Recv for a message that never comes, or comes to an END:
 *
 *	end     MPI_Finalize, and what follows is nothing
 *	go      the same, but only when there is a file OUT.go
 *	fork    the same, but with children on the way that do not call MPI, one of which
 *	        becomes another program
 *	exec    the process becomes another program after MPI_Finalize
 *	kill    rank 1 is killed by a signal, and the launcher ends the others
 *
 * Compiled with -DFUNCTIONS -finstrument-functions it writes down its functions as well. With an
 * odd number of rounds the loops do not repeat.
 *
 * usage: reference OUT ROUNDS [END] */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static __thread FILE *out;
static const char *out_name, *end = "";
static int rank, size, rounds;
static MPI_Comm thread_comm;

#define CALL(name, ...)                                                                            \
	do {                                                                                       \
		fprintf(out, "%s\n", #name);                                                       \
		MPI_##name(__VA_ARGS__);                                                           \
	} while (0)
#ifdef FUNCTIONS
#define ENTER() fprintf(out, "%s()\n", __func__)
#define LEAVE() fprintf(out, "%s() returns\n", __func__)
#else
#define ENTER() (void)0
#define LEAVE() (void)0
#endif
#define NOT_TRACED __attribute__((no_instrument_function))

static NOT_TRACED void open_out(int thread)
{
	char path[1000];

	snprintf(path, sizeof(path), "%s.%d.%d", out_name, rank, thread);
	out = fopen(path, "w");
	if (!out)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static NOT_TRACED void close_out(const char *last)
{
	fprintf(out, "%s\n", last);
	fclose(out);
}

/* Around a ring: to the next rank, from the one before. */
static void exchange(int times)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	int from, to = rank;

	ENTER();
	for (int i = 0; i < times; i++) {
		CALL(Irecv, &from, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
		     &requests[0]);
		CALL(Isend, &to, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
		CALL(Waitall, 2, requests, statuses);
	}
	LEAVE();
}

/* Only polls that succeed are events. */
static void poll_for_barrier(void)
{
	MPI_Request request;
	int done = 0;

	ENTER();
	CALL(Ibarrier, MPI_COMM_WORLD, &request);
	while (!done)
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
	fprintf(out, "Test\n");
	LEAVE();
}

/* What children do is nobody's trace, their functions included. */
static void child(void)
{
	for (volatile int i = 0; i < 1000; i++)
		;
}

static NOT_TRACED void start_children(void)
{
	fflush(out);
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			child();
			if (i == 1)
				execl("/bin/true", "true", (char *)NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void compute(int round)
{
	unsigned int odd = rounds % 2 ? (unsigned int)round * 2654435761u >> 28 : 0;
	int sum;

	ENTER();
	exchange(4 + (int)odd);
	for (int i = 0; i < 3; i++)
		CALL(Allreduce, &rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (round % 7 == 3)
		poll_for_barrier();
	exchange(1 + round % 2);
	LEAVE();
}

static NOT_TRACED void *beside(void *unused)
{
	int sum;

	open_out(1);
	for (int i = 0; i < rounds; i++) {
		CALL(Allreduce, &rank, &sum, 1, MPI_INT, MPI_SUM, thread_comm);
		for (int k = 0; k < i % 3; k++)
			CALL(Barrier, thread_comm);
	}
	if (*end) {
		fclose(out);
		return unused;
	}
	close_out("Recv");
	MPI_Recv(&sum, 1, MPI_INT, (rank + 1) % size, 98, thread_comm, MPI_STATUS_IGNORE);
	return unused;
}

static NOT_TRACED bool is_end(const char *name)
{
	return strcmp(end, name) == 0;
}

static NOT_TRACED void wait_for_go(void)
{
	char path[1000];

	snprintf(path, sizeof(path), "%s.go", out_name);
	while (access(path, F_OK) != 0)
		usleep(50000);
}

static NOT_TRACED void come_to_end(void)
{
	if (is_end("go"))
		wait_for_go();
	if (is_end("kill") && rank == 1) {
		fclose(out);
		raise(SIGKILL);
	}
	close_out("Finalize");
	MPI_Finalize();
	if (is_end("exec"))
		execl("/bin/true", "true", (char *)NULL);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int level, from;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc < 3 || level != MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 1);
	out_name = argv[1];
	rounds = atoi(argv[2]);
	end = argc > 3 ? argv[3] : "";
	open_out(0);
	fprintf(out, "Init_thread\n");
	CALL(Comm_dup, MPI_COMM_WORLD, &thread_comm);
	pthread_create(&thread, NULL, beside, NULL);
	for (int i = 0; i < rounds; i++) {
		if (is_end("fork") && i % 10 == 5)
			start_children();
		compute(i);
	}
	if (*end) {
		pthread_join(thread, NULL);
		come_to_end();
		return 0;
	}
	close_out("Recv");
	MPI_Recv(&from, 1, MPI_INT, (rank + 1) % size, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
