/* SPDX-License-Identifier: BSD-3-Clause
 * A job whose output shows any loss: each rank counts, in step with the others, until a file is
 * there, and prints each number. usage: count FILE STATUS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
	int rank, number = 0, is_over = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc != 3)
		MPI_Abort(MPI_COMM_WORLD, 2);
	while (!is_over) {
		int has_seen = access(argv[1], F_OK) == 0;

		printf("%d %d\n", rank, ++number);
		fflush(stdout);
		nanosleep(&pause, NULL);
		MPI_Allreduce(&has_seen, &is_over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	}
	printf("%d %d end\n", rank, ++number);
	MPI_Finalize();
	return atoi(argv[2]);
}
