/* SPDX-License-Identifier: BSD-3-Clause
 * A signal handler that communicates: one rank alone gets the signal to write a checkpoint, and its
 * handler waits at a barrier that nobody else comes to.
 * expect: kind=mismatch lp=R where=on_signal
 * says: MPI_Barrier; MPI_Allreduce
 * ranks: 4:2 8:5 */
#include <mpi.h>
#include <signal.h>

#include "fault.h"

static void on_signal(int signal)
{
	(void)signal;
	MPI_Barrier(MPI_COMM_WORLD);
	fault_flag = 1; /* not a tail call */
}

static NOINLINE double advance(int rank, long step, double x)
{
	if (fault_is_now(rank, step))
		raise(SIGUSR2);
	return fault_work(x);
}

int main(int argc, char **argv)
{
	int rank;
	double x, sum;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	signal(SIGUSR2, on_signal);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		x = advance(rank, step, x);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
