/* SPDX-License-Identifier: BSD-3-Clause
 * Each rank stalls in another iteration of a loop, whose function is inlined and inlines another. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static volatile double field[64];

static inline double norm(int n)
{
	double sum = 0;
	int i = 1;

	while (i < n) {
		sum += field[i];
		i++;
	}
	return sum;
}

static inline void stall(void)
{
	/* In one write: launchers mix what ranks print in several. */
	dprintf(STDOUT_FILENO, "stalled\n");
	while (field[63] == 0)
		usleep(1000);
}

static inline void smooth(int rank, int is_last)
{
	int sweep = 0;

	do {
		field[1] = norm(60); /* LOOP */
		if (is_last && sweep == 10 + rank)
			stall();
		sweep++;
	} while (sweep < 100);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int step = 0; step < 4; step++) {
		smooth(rank, step == 3);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
