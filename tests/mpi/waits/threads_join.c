/* SPDX-License-Identifier: BSD-3-Clause
 * MPI_THREAD_MULTIPLE: in each step a rank of a pair sends its partner a message, and a thread of each
 * of both meets the other in a barrier while the main thread waits in pthread_join for it. The faulty
 * rank has its thread do that before it sends, and its partner waits for the message first.
 * expect: kind=deadlock lp=R-1,R
 * says: pthread_join\(\), in with_helper\(\); waits for its thread \d+ to end; MPI_Barrier, helper\(\)
 * ranks: 4:1 8:5
 * launch: openmpi5 --mca mpi_yield_when_idle 0
 * flags: -pthread */
#include <mpi.h>
#include <pthread.h>

#include "fault.h"

static int rank, partner;
static MPI_Comm pair;

static void *helper(void *unused)
{
	MPI_Barrier(pair);
	return unused;
}

static NOINLINE void with_helper(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, helper, NULL))
		_exit(5);
	pthread_join(thread, NULL);
}

static void exchange(double *x, long step)
{
	bool is_wrong = fault_is_now(rank, step);

	if (is_wrong)
		with_helper();
	if (rank % 2)
		MPI_Send(x, 1, MPI_DOUBLE, partner, 7, MPI_COMM_WORLD);
	else
		MPI_Recv(x, 1, MPI_DOUBLE, partner, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!is_wrong)
		with_helper();
}

int main(int argc, char **argv)
{
	int provided;
	double x, sum;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	fault_arguments(argc, argv);
	if (provided != MPI_THREAD_MULTIPLE)
		return 4;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	partner = rank ^ 1;
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		exchange(&x, step);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Comm_free(&pair);
	MPI_Finalize();
	return 0;
}
