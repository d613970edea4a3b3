/* SPDX-License-Identifier: BSD-3-Clause
 * A rank stopped by a signal inside MPI: it waits for a message that rank 0 sends only after it has
 * seen that the rank's process is stopped. Then everybody waits at a barrier.
 * expect: lp=R kind=stopped where=MPI_Recv
 * ranks: 4:2 8:5 */
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "fault.h"

enum { FAULTY_STEP = 15 };

static void stop_here(int signal)
{
	(void)signal;
	raise(SIGSTOP);
}

/* Returns when the process of that pid is in state T. */
static void wait_until_stopped(int pid)
{
	char path[64], line[512], *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	do {
		file = fopen(path, "r");
		if (!file || !fgets(line, sizeof(line), file))
			_exit(3);
		fclose(file);
		state = strrchr(line, ')');
	} while (!state || state[2] != 'T');
}

static void stop_and_tell(int rank)
{
	struct itimerval timer = {.it_value = {.tv_usec = 100000}};
	int pid = getpid(), token;

	if (rank == fault_rank) {
		MPI_Send(&pid, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
		signal(SIGALRM, stop_here);
		setitimer(ITIMER_REAL, &timer, NULL);
		MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (rank == 0) {
		MPI_Recv(&pid, 1, MPI_INT, fault_rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		wait_until_stopped(pid);
		fault_announce(fault_rank);
		MPI_Send(&pid, 1, MPI_INT, fault_rank, 3, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int rank;
	double x;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		if (step == FAULTY_STEP && fault_rank > 0)
			stop_and_tell(rank);
		x = fault_work(x);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return x < 0;
}
