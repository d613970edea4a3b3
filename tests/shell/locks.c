/* SPDX-License-Identifier: BSD-3-Clause
 * Each rank waits for another lock, which a sleeping thread of it holds; the last rank waits for them
 * all in MPI. Rank r waits for the one of number r + SHIFT. Says "ready" for each; ends when it is
 * killed.
 *
 *	locks SHIFT */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MUTEX, IN_LARGER, WRITER, READER, STREAM, CRITICAL, NUM_LOCKS };

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static struct {
	long values[8];
	pthread_mutex_t lock;
} cells = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t tree = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t is_held;
static int kind;

__attribute__((noinline)) static void sleep_on_it(void)
{
	for (;;)
		sleep(1000);
}

static void take(int for_writing)
{
	switch (kind) {
	case MUTEX:
		pthread_mutex_lock(&table);
		break;
	case IN_LARGER:
		pthread_mutex_lock(&cells.lock);
		break;
	case WRITER:
		pthread_rwlock_wrlock(&tree);
		break;
	case READER:
		if (for_writing)
			pthread_rwlock_wrlock(&tree);
		else
			pthread_rwlock_rdlock(&tree);
		break;
	case STREAM:
		flockfile(stdin);
		break;
	}
}

static void *hold(void *argument)
{
	take(0);
	pthread_barrier_wait(&is_held);
	sleep_on_it();
	return argument;
}

__attribute__((noinline)) static void wait_in_region(void)
{
	static volatile int is_taken;

#pragma omp parallel num_threads(2)
	{
		while (omp_get_thread_num() == 0 && !is_taken)
			usleep(1000);
#pragma omp critical(update)
		{
			is_taken = 1;
			sleep_on_it();
		}
	}
}

__attribute__((noinline)) static void wait_for_it(void)
{
	pthread_t thread;

	puts("ready");
	fflush(stdout);
	if (kind == CRITICAL) {
		wait_in_region();
		return;
	}
	pthread_create(&thread, NULL, hold, NULL);
	pthread_barrier_wait(&is_held);
	take(1);
}

int main(int argc, char **argv)
{
	int provided, rank, size;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	pthread_barrier_init(&is_held, NULL, 2);
	kind = (rank + (argc > 1 ? atoi(argv[1]) : 0)) % NUM_LOCKS;
	for (int i = 0; i < 20; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	if (rank < size - 1)
		wait_for_it();
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
