/* SPDX-License-Identifier: BSD-3-Clause
 * Heat in a rod: each rank gives its ends to both neighbours and takes theirs, and all look
 * together how much has changed.
 *
 * fault order: place=MPI_Recv,.left it receives before it sends, from then on
 * fault collective: place=MPI_Allreduce,.con.*rged it leaves out one sum
 * fault deadlock: place=MPI_Recv,.left it waits for a message that nobody sends
 * fault peer: place=MPI_Send,.wrong it sends to another rank
 * fault missing: place=MPI_Send,.right it sends nothing to the right, once */
#include <mpi.h>

#include "version.h"

enum { STEPS = 60, TO_LEFT = 1, TO_RIGHT = 2 };

static double ends[2], halo[2];
static int rank, size;

static NOINLINE void wrong(void)
{
	MPI_Send(&ends[1], 1, MPI_DOUBLE, (rank + 2) % size, TO_RIGHT, MPI_COMM_WORLD);
	version_place();
}

static NOINLINE void left(long step)
{
	if (rank == 0)
		return;
	if (version_is("deadlock", rank, step))
		MPI_Recv(&halo[0], 1, MPI_DOUBLE, rank - 1, TO_LEFT, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	if (version_is_since("order", rank, step)) {
		MPI_Recv(&halo[0], 1, MPI_DOUBLE, rank - 1, TO_RIGHT, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		MPI_Send(&ends[0], 1, MPI_DOUBLE, rank - 1, TO_LEFT, MPI_COMM_WORLD);
		version_place();
		return;
	}
	MPI_Send(&ends[0], 1, MPI_DOUBLE, rank - 1, TO_LEFT, MPI_COMM_WORLD);
	MPI_Recv(&halo[0], 1, MPI_DOUBLE, rank - 1, TO_RIGHT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	version_place();
}

static NOINLINE void right(long step)
{
	if (rank == size - 1)
		return;
	if (version_is("peer", rank, step))
		wrong();
	else if (!version_is("missing", rank, step))
		MPI_Send(&ends[1], 1, MPI_DOUBLE, rank + 1, TO_RIGHT, MPI_COMM_WORLD);
	MPI_Recv(&halo[1], 1, MPI_DOUBLE, rank + 1, TO_LEFT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	version_place();
}

static NOINLINE double converged(long step, double change)
{
	double all = change;

	if (!version_is("collective", rank, step))
		MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

int main(int argc, char **argv)
{
	double change = 1;

	version_arguments(argc, argv);
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	ends[0] = ends[1] = rank;
	for (long step = 0; step < STEPS; step++) {
		right(step);
		left(step);
		ends[0] = (ends[0] + halo[0]) / 2;
		ends[1] = (ends[1] + halo[1]) / 2;
		change = converged(step, change / 2);
	}
	version_hold();
}
