/* SPDX-License-Identifier: BSD-3-Clause
 * A wake-up that never comes: in each step the main thread has a helper do something and waits for it
 * on a condition. One rank forgets to ask, and both of its threads wait outside MPI.
 * expect: lp=R kind=computation where=await
 * ranks: 4:1 8:5
 * flags: -pthread */
#include <mpi.h>
#include <pthread.h>

#include "fault.h"

enum { FAULTY_STEP = 12 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static bool has_work, is_done;
static double value;

static void *helper(void *unused)
{
	pthread_mutex_lock(&mutex);
	for (;;) {
		while (!has_work)
			pthread_cond_wait(&asked, &mutex);
		value = fault_work(value);
		has_work = false;
		is_done = true;
		pthread_cond_signal(&answered);
	}
	return unused;
}

static NOINLINE double await(double x, bool forgets)
{
	pthread_mutex_lock(&mutex);
	value = x;
	if (!forgets) {
		has_work = true;
		pthread_cond_signal(&asked);
	}
	while (!is_done)
		pthread_cond_wait(&answered, &mutex);
	is_done = false;
	x = value;
	pthread_mutex_unlock(&mutex);
	return x;
}

int main(int argc, char **argv)
{
	int rank, provided;
	double x, sum;
	pthread_t thread;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	pthread_create(&thread, NULL, helper, NULL);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		bool forgets = rank == fault_rank && step == FAULTY_STEP;

		if (forgets)
			fault_announce(rank);
		x = await(x, forgets);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
