/* SPDX-License-Identifier: BSD-3-Clause
 * MPI_THREAD_MULTIPLE: a rank of a pair asks its partner, and a thread of it receives the answer
 * while it holds the lock of a stdio stream, to which the main thread writes then. The faulty
 * rank's main thread writes before it has asked: it waits for its thread, this one for the answer,
 * and the partner for the question.
 * expect: kind=deadlock lp=R-1,R
 * says: in take\(\); MPI_Recv, helper\(\); waits for the lock of descriptor \d+ \(/dev/null\) that its thread \d+ holds
 * ranks: 4:1 8:5
 * launch: openmpi5 --mca mpi_yield_when_idle 0
 * flags: -pthread */
#include <mpi.h>
#include <pthread.h>

#include "fault.h"

enum { QUESTION = 1, ANSWER = 2 };

static int rank, partner;
static double value;
static FILE *log_file;
static pthread_barrier_t has_lock, is_done;

static void *helper(void *unused)
{
	for (long step = 0; step < fault_steps; step++) {
		flockfile(log_file);
		pthread_barrier_wait(&has_lock);
		MPI_Recv(&value, 1, MPI_DOUBLE, partner, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		funlockfile(log_file);
		pthread_barrier_wait(&is_done);
	}
	return unused;
}

static NOINLINE double take(void)
{
	fputs("taken\n", log_file);
	return value;
}

static void ask(double *x, long step)
{
	bool is_wrong = fault_is_now(rank, step);

	pthread_barrier_wait(&has_lock);
	if (is_wrong)
		*x = take();
	MPI_Send(x, 1, MPI_DOUBLE, partner, QUESTION, MPI_COMM_WORLD);
	if (!is_wrong)
		*x = take();
	pthread_barrier_wait(&is_done);
}

static void answer(double *x)
{
	MPI_Recv(x, 1, MPI_DOUBLE, partner, QUESTION, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	*x = fault_work(*x);
	MPI_Send(x, 1, MPI_DOUBLE, partner, ANSWER, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int provided;
	double x, sum;
	pthread_t thread;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	fault_arguments(argc, argv);
	if (provided != MPI_THREAD_MULTIPLE)
		return 4;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	partner = rank ^ 1;
	log_file = fopen("/dev/null", "w");
	if (!log_file)
		return 6;
	pthread_barrier_init(&has_lock, NULL, 2);
	pthread_barrier_init(&is_done, NULL, 2);
	if (rank % 2 && pthread_create(&thread, NULL, helper, NULL))
		return 5;
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (rank % 2)
			ask(&x, step);
		else
			answer(&x);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	if (rank % 2)
		pthread_join(thread, NULL);
	MPI_Finalize();
	return 0;
}
