/* SPDX-License-Identifier: BSD-3-Clause
 * MPI_THREAD_MULTIPLE: in each rank a second thread exchanges on a communicator of its own; at the
 * end of a step both threads meet. One thread of one rank loops; its sibling waits for it outside
 * MPI, as do the siblings of all threads that it holds up.
 * expect: lp=R kind=computation where=filter
 * ranks: 4:1 8:2
 * launch: openmpi5 --mca mpi_yield_when_idle 0
 * flags: -pthread */
#include <mpi.h>
#include <pthread.h>

#include "fault.h"

enum { FAULTY_STEP = 12 };

static int rank, size;
static MPI_Comm comms[2];
static pthread_barrier_t meeting;

static NOINLINE double filter(long step, double x)
{
	if (rank == fault_rank && step == FAULTY_STEP)
		FAULT_LOOP(rank);
	return fault_work(x);
}

static double shift(MPI_Comm comm, double x)
{
	double got;

	MPI_Sendrecv(&x, 1, MPI_DOUBLE, (rank + 1) % size, 1, &got, 1, MPI_DOUBLE,
		     (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
	return got;
}

static void *helper(void *unused)
{
	double x = rank;

	(void)unused;
	for (long step = 0; step < fault_steps; step++) {
		x = filter(step, x);
		x = shift(comms[1], x);
		pthread_barrier_wait(&meeting);
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
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	pthread_barrier_init(&meeting, NULL, 2);
	pthread_create(&thread, NULL, helper, NULL);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		x = fault_work(x);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, comms[0]);
		x = sum / size;
		pthread_barrier_wait(&meeting);
	}
	pthread_join(thread, NULL);
	MPI_Comm_free(&comms[0]);
	MPI_Comm_free(&comms[1]);
	MPI_Finalize();
	return 0;
}
