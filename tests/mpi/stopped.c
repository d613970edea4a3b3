/* SPDX-License-Identifier: BSD-3-Clause
 * A rank stopped by a signal inside MPI: it waits for a message that rank 0 sends only after a process
 * beside that rank has seen it stopped. Then everybody waits at a barrier.
 * expect: lp=R kind=stopped where=MPI_Recv
 * ranks: 4:2 8:5 */
#define _GNU_SOURCE /* program_invocation_name */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

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

/* Rank 0 may be on another host. What it can see from there is a file beside the program. */
static void name_file(int pid, char path[512])
{
	snprintf(path, 512, "%s.stopped.%d", program_invocation_name, pid);
}

/* By nobody's child, as a stopped process reaps none. */
static void start_telling(void)
{
	int pid = getpid();
	char path[512];

	if (fork() == 0) {
		if (fork() == 0) {
			name_file(pid, path);
			wait_until_stopped(pid);
			close(open(path, O_CREAT | O_WRONLY, 0600));
		}
		_exit(0);
	}
	wait(NULL);
}

static void wait_until_told(int pid)
{
	char path[512];

	name_file(pid, path);
	while (unlink(path) != 0)
		usleep(10000);
}

static void stop_and_tell(int rank)
{
	struct itimerval timer = {.it_value = {.tv_usec = 100000}};
	int pid = getpid(), token;

	if (rank == fault_rank) {
		start_telling();
		MPI_Send(&pid, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
		signal(SIGALRM, stop_here);
		setitimer(ITIMER_REAL, &timer, NULL);
		MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (rank == 0) {
		MPI_Recv(&pid, 1, MPI_INT, fault_rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		wait_until_told(pid);
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
