/* SPDX-License-Identifier: BSD-3-Clause
 * Odd-even sort of one number for each rank: in each phase every rank compares with the one beside
 * it, on one side and then on the other. The one of even number sends first.
 *
 * fault order: place=MPI_Recv,.receive it receives where it had sent, from then on: both wait
 * fault collective: place=MPI_Allreduce,.or.*red it leaves out one look at all
 * fault deadlock: place=MPI_Recv,.trade it waits for a second number
 * fault peer: place=MPI_Send,.astray it sends to another rank
 * fault missing: place=MPI_Send,.send it sends nothing, once */
#include <mpi.h>

#include "version.h"

enum { PHASES = 60, TAG = 1 };

static int rank, size;

static NOINLINE void astray(const int *mine)
{
	MPI_Send(mine, 1, MPI_INT, (rank + 2) % size, TAG + 1, MPI_COMM_WORLD);
	version_place();
}

static NOINLINE void receive(int *theirs, int with)
{
	MPI_Recv(theirs, 1, MPI_INT, with, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	version_place();
}

static NOINLINE void send(const int *mine, int with)
{
	MPI_Send(mine, 1, MPI_INT, with, TAG, MPI_COMM_WORLD);
	version_place();
}

static NOINLINE int trade(int mine, int with, long phase)
{
	int theirs = mine;

	if (version_is("deadlock", rank, phase))
		MPI_Recv(&theirs, 1, MPI_INT, with, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if ((rank % 2 == 0) != version_is_since("order", rank, phase)) {
		if (version_is("peer", rank, phase))
			astray(&mine);
		else if (!version_is("missing", rank, phase))
			send(&mine, with);
		receive(&theirs, with);
	} else {
		receive(&theirs, with);
		if (version_is("peer", rank, phase))
			astray(&mine);
		else if (!version_is("missing", rank, phase))
			send(&mine, with);
	}
	return (rank < with) == (mine < theirs) ? mine : theirs;
}

static NOINLINE int ordered(int mine, long phase)
{
	int all = mine;

	if (!version_is("collective", rank, phase))
		MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	return all;
}

int main(int argc, char **argv)
{
	int mine, most = 0;

	version_arguments(argc, argv);
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	mine = size - rank;
	for (long phase = 0; phase < PHASES; phase++) {
		int with = (rank + phase) % 2 == 0 ? rank + 1 : rank - 1;

		if (with >= 0 && with < size)
			mine = trade(mine, with, phase);
		most = ordered(mine, phase);
	}
	version_hold();
	return most;
}
