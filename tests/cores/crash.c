/* SPDX-License-Identifier: BSD-3-Clause
 * One rank crashes: CRASH DIRECTORY RANK HOW. Each rank works in DIRECTORY/RANK, so that the
 * kernel writes its core there, and has a second thread. When all are where they will be found,
 * rank 0 makes the file "ready"; RANK goes on when there is a file "go". HOW: fault, abort. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* Where no process has memory. */
static volatile int *volatile nowhere = (volatile int *)0x4128;

static NOINLINE void wait_for_file(const char *path)
{
	while (access(path, F_OK))
		usleep(10000);
}

static NOINLINE int break_down(const char *how)
{
	if (!strcmp(how, "abort"))
		abort();
	return *nowhere;
}

static NOINLINE void solve(int rank, int culprit, const char *how)
{
	if (rank == culprit) {
		wait_for_file("../go");
		break_down(how);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void *help(void *argument)
{
	pause();
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t helper;
	char name[16];
	int rank, provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(name, sizeof(name), "%d", rank);
	if (argc != 4 || chdir(argv[1]) || mkdir(name, 0700) || chdir(name) ||
	    pthread_create(&helper, NULL, help, NULL))
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		close(creat("../ready", 0600));
	solve(rank, atoi(argv[2]), argv[3]);
	MPI_Finalize();
	return 0;
}
