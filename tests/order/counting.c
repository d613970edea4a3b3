/* SPDX-License-Identifier: BSD-3-Clause
 * Three loops, one in the other, that count up, down and by doubling; each rank stops in another
 * iteration: 0 before 1 by the innermost loop, 1 before 2 by the second one, 2 before 3 by the
 * outermost one. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void visit(int rank, int up, int down, long doubled)
{
	static const struct {
		int up, down;
		long doubled;
	} stops[] = {{3, 7, 2}, {3, 7, 8}, {3, 5, 1}, {4, 9, 1}};

	if (up != stops[rank].up || down != stops[rank].down || doubled != stops[rank].doubled)
		return;
	/* In one write: launchers mix what ranks print in several. */
	dprintf(STDOUT_FILENO, "stopped\n");
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int up = 0; up < 9; up++)
		for (int down = 9; down > 0; down--)
			for (long doubled = 1; doubled < 1000; doubled *= 2)
				visit(rank % 4, up, down, doubled);
	MPI_Finalize();
	return 0;
}
