/* SPDX-License-Identifier: BSD-3-Clause
 * Calls in known numbers; what the segment must say is in run.sh. The word says what else is
 * done. */
#include "checkpoint.h"

#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void base_calls(void)
{
	int rank, size, flag, in = 1, out;
	MPI_Request request;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 5; i++) {
		for (int j = 0; j < 3; j++)
			MPI_Sendrecv(&in, 1, MPI_INT, (rank + 1) % size, 0, &out, 1, MPI_INT,
				     (rank + size - 1) % size, 0, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
		MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	for (int i = 0; i < 7; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Isend(&in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
	MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	if (!flag)
		abort();
}

static pthread_barrier_t together;

static void *thread_calls(void *number)
{
	int in = 1, out, tag = *(int *)number;

	for (int i = 0; i < 10; i++)
		MPI_Sendrecv(&in, 1, MPI_INT, 0, tag, &out, 1, MPI_INT, 0, tag, MPI_COMM_SELF,
			     MPI_STATUS_IGNORE);
	pthread_barrier_wait(&together); /* nobody ends before all have a lane */
	return NULL;
}

static void threads(int num, int at_once)
{
	pthread_t id[8];
	int tags[8];

	pthread_barrier_init(&together, NULL, at_once ? num : 1);
	for (int i = 0; i < num; i++) {
		tags[i] = i;
		pthread_create(&id[i], NULL, thread_calls, &tags[i]);
		if (!at_once)
			pthread_join(id[i], NULL);
	}
	for (int i = 0; at_once && i < num; i++)
		pthread_join(id[i], NULL);
}

static jmp_buf out_of_call;

static void leave_call(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	longjmp(out_of_call, 1);
}

/* An error handler that leaves the failing MPI_Send by longjmp, three times. */
static void jumps(void)
{
	MPI_Errhandler handler;
	int in = 1;

	MPI_Comm_create_errhandler(leave_call, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	for (volatile int i = 0; i < 3; i++)
		if (setjmp(out_of_call) == 0)
			MPI_Send(&in, 1, MPI_INT, 12345, 0, MPI_COMM_WORLD);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&handler);
}

static __attribute__((noinline)) int recurse(int depth)
{
	int in = 1;

	if (depth == 0)
		MPI_Send(&in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	else
		in += recurse(depth - 1);
	__asm__ volatile("" : "+r"(in));
	return in;
}

static void left(unsigned way, int depth);

static __attribute__((noinline)) void right(unsigned way, int depth)
{
	int in = 1;

	if (depth == 0)
		MPI_Send(&in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	else if (way & 1)
		left(way >> 1, depth - 1);
	else
		right(way >> 1, depth - 1);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void left(unsigned way, int depth)
{
	right(way, depth);
	__asm__ volatile("" ::: "memory");
}

/* 4096 call paths. */
static void many_paths(void)
{
	for (unsigned way = 0; way < 4096; way++)
		right(way, 12);
}

static unsigned reversed(unsigned way, int depth)
{
	unsigned ret = 0;

	for (int i = 0; i < depth; i++)
		ret |= (way >> i & 1) << (depth - 1 - i);
	return ret;
}

/* 2 times 256 call paths; one after the other differ in their inner frames, or in their outer
 * ones. */
static void alike_paths(void)
{
	for (unsigned way = 0; way < 256; way++) {
		right(way, 8);
		right(reversed(way, 8), 8);
	}
}

static void forks(void)
{
	pid_t child = fork();

	if (child == 0)
		exit(0); /* runs destructors: the segment must survive that */
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int provided;

	if (strcmp(what, "threads") == 0)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	else
		MPI_Init(&argc, &argv);
	if (strcmp(what, "exec") == 0) {
		execl(argv[0], argv[0], (char *)NULL);
		return 2;
	}
	if (strcmp(what, "fork") == 0)
		forks();
	base_calls();
	if (strcmp(what, "threads") == 0) {
		threads(3, 1);
		threads(5, 0);
	}
	if (strcmp(what, "jumps") == 0)
		jumps();
	if (strcmp(what, "deep") == 0)
		for (int i = 0; i < 2; i++)
			recurse(20000 + 5000 * i);
	if (strcmp(what, "paths") == 0)
		many_paths();
	if (strcmp(what, "alike") == 0)
		alike_paths();
	if (strcmp(what, "abort") == 0)
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (strcmp(what, "killed") == 0)
		raise(SIGKILL);
	checkpoint();
	MPI_Finalize();
	puts("done");
	return 0;
}
