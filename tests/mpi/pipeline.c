/* SPDX-License-Identifier: BSD-3-Clause
 * A pipeline (wavefront) with blocking sends: each plane goes through all ranks, forwards and then
 * backwards. The rank behind the faulty one waits for a plane that the faulty one has received
 * already: in the progress order the culprit is ahead of its victim.
 * expect: lp=R kind=computation where=solve_plane
 * ranks: 4:1 8:3 */
#include <mpi.h>

#include "fault.h"

enum { PLANES = 6, FAULTY_STEP = 5, FAULTY_PLANE = 4 };

static NOINLINE void solve_plane(int rank, long step, int plane, double *cells, int num)
{
	if (rank == fault_rank && step == FAULTY_STEP && plane == FAULTY_PLANE)
		FAULT_LOOP(rank);
	for (int i = 0; i < num; i++)
		cells[i] = fault_work(cells[i]) / 2;
}

static void sweep(int rank, int from, int to, long step, double *cells, int num)
{
	for (int plane = 0; plane < PLANES; plane++) {
		if (from >= 0)
			MPI_Recv(cells, num, MPI_DOUBLE, from, plane, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		solve_plane(rank, step, plane, cells, num);
		if (to >= 0)
			MPI_Send(cells, num, MPI_DOUBLE, to, plane, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	enum { CELLS = 16 };
	double cells[CELLS] = {0}, norm;
	int rank, size, next, previous;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	previous = rank - 1;
	next = rank + 1 < size ? rank + 1 : -1;
	for (long step = 0; step < fault_steps; step++) {
		sweep(rank, previous, next, step, cells, CELLS);
		sweep(rank, next, previous, -1, cells, CELLS);
		if (step % 4 == 3)
			MPI_Allreduce(cells, &norm, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
