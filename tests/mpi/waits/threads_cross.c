/* SPDX-License-Identifier: BSD-3-Clause
 * MPI_THREAD_MULTIPLE: the main thread of a rank asks the helper thread of its partner and waits
 * for the answer. The faulty rank's main thread waits for the answer before it has asked, and its
 * partner's helper for the question.
 * expect: kind=deadlock lp=R
 * says: tag 1; tag 2; MPI_Recv
 * ranks: 4:2 8:4
 * launch: openmpi5 --mca mpi_yield_when_idle 0
 * flags: -pthread */
#include <mpi.h>
#include <pthread.h>

#include "fault.h"

enum { QUESTION = 1, ANSWER = 2 };

static int rank, partner;

static void *helper(void *unused)
{
	double x;

	(void)unused;
	for (long step = 0; step < fault_steps; step++) {
		MPI_Recv(&x, 1, MPI_DOUBLE, partner, QUESTION, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		x = fault_work(x);
		MPI_Send(&x, 1, MPI_DOUBLE, partner, ANSWER, MPI_COMM_WORLD);
	}
	return NULL;
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
	pthread_create(&thread, NULL, helper, NULL);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		bool is_wrong = fault_is_now(rank, step);

		fault_pause(rank, step);
		if (!is_wrong)
			MPI_Send(&x, 1, MPI_DOUBLE, partner, QUESTION, MPI_COMM_WORLD);
		MPI_Recv(&x, 1, MPI_DOUBLE, partner, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (is_wrong)
			MPI_Send(&x, 1, MPI_DOUBLE, partner, QUESTION, MPI_COMM_WORLD);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	pthread_join(thread, NULL);
	MPI_Finalize();
	return 0;
}
