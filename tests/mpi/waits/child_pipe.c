/* SPDX-License-Identifier: BSD-3-Clause
 * The faulty rank reads what a command of its own prints, which is stopped; the others wait for it
 * in MPI_Bcast.
 * expect: kind=computation lp=R where=ask_command
 * says: sleeps in read\(\), a pipe: process \d+ \(.*stopped\) has it open for writing
 * ranks: 4:1 8:6 */
#include <mpi.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "fault.h"

static NOINLINE double ask_command(void)
{
	double x = 0;
	int ends[2];
	pid_t child;

	if (pipe(ends))
		_exit(5);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[0]);
		raise(SIGSTOP);
		_exit(0);
	}
	close(ends[1]);
	if (read(ends[0], &x, sizeof(x)) != sizeof(x))
		x = 1;
	close(ends[0]);
	waitpid(child, NULL, 0);
	return x;
}

int main(int argc, char **argv)
{
	int rank, size;
	double x;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (fault_is_now(rank, step))
			x = ask_command();
		MPI_Bcast(&x, 1, MPI_DOUBLE, (int)(step % size), MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		x = fault_work(x);
	}
	MPI_Finalize();
	return 0;
}
