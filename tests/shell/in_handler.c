/* SPDX-License-Identifier: BSD-3-Clause
 * Rank 1 waits inside MPI for rank 0 when a timer's signal comes, whose handler never returns.
 * Then rank 0 comes, too, and all wait for rank 1. */
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

static volatile int never;

static void on_alarm(int number)
{
	static const char words[] = "in the handler\n";

	(void)number;
	if (write(STDOUT_FILENO, words, sizeof(words) - 1) < 0)
		_exit(3);
	while (!never)
		;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	int rank, x = 1, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	sigaction(SIGALRM, &action, NULL);
	for (int step = 0; step < 10; step++) {
		if (step == 5 && rank == 1)
			alarm(1);
		if (step == 5 && rank == 0)
			sleep(3);
		MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
