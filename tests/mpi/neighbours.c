/* SPDX-License-Identifier: BSD-3-Clause
 * Rank-dependent inner counts: a grid of ranks without wrap-around. Boundary ranks have fewer
 * neighbours, each neighbour has its own receive, and the sends are a loop as long as there are
 * neighbours: in the main loop no call is made by all ranks.
 * expect: lp=R kind=computation where=stencil
 * ranks: 4:3 8:5 9:4 */
#include <mpi.h>

#include "fault.h"

enum { FAULTY_STEP = 15 };

static NOINLINE double stencil(int rank, long step, double x)
{
	if (rank == fault_rank && step == FAULTY_STEP)
		FAULT_LOOP(rank);
	return fault_work(x);
}

static double receive(int from)
{
	double got;

	MPI_Recv(&got, 1, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return got;
}

static double exchange(const int *at, const int *dims, int rank, double x)
{
	int west = at[0] > 0 ? rank - dims[1] : -1,
	    east = at[0] < dims[0] - 1 ? rank + dims[1] : -1;
	int south = at[1] > 0 ? rank - 1 : -1, north = at[1] < dims[1] - 1 ? rank + 1 : -1;
	int neighbours[4], num = 0;

	if (west >= 0)
		neighbours[num++] = west;
	if (east >= 0)
		neighbours[num++] = east;
	if (south >= 0)
		neighbours[num++] = south;
	if (north >= 0)
		neighbours[num++] = north;
	for (int i = 0; i < num; i++)
		MPI_Send(&x, 1, MPI_DOUBLE, neighbours[i], 1, MPI_COMM_WORLD);
	if (west >= 0)
		x += receive(west);
	if (east >= 0)
		x += receive(east);
	if (south >= 0)
		x += receive(south);
	if (north >= 0)
		x += receive(north);
	return x / (1 + num);
}

int main(int argc, char **argv)
{
	int rank, size, dims[2] = {0, 0}, at[2];
	double x;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, dims);
	at[0] = rank / dims[1];
	at[1] = rank % dims[1];
	x = rank;
	for (long step = 0; step < fault_steps; step++)
		x = stencil(rank, step, exchange(at, dims, rank, x));
	MPI_Finalize();
	return 0;
}
