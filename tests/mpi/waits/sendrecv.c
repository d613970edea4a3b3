/* SPDX-License-Identifier: BSD-3-Clause
 * Exchanges in different order: all shift long rows to the right and then columns, both by
 * MPI_Sendrecv. The faulty rank begins with the columns: its left neighbour cannot get rid of its
 * rows, and it gets no columns from there.
 * expect: kind=deadlock lp=R
 * says: MPI_Sendrecv; tag 1; tag 2
 * ranks: 4:2 8:3 */
#include <mpi.h>

#include "fault.h"

enum { LONG = 1 << 17, ROWS = 1, COLUMNS = 2 };

static double mine[LONG], other[LONG];

static NOINLINE void shift(int rank, int size, int tag)
{
	MPI_Sendrecv(mine, LONG, MPI_DOUBLE, (rank + 1) % size, tag, other, LONG, MPI_DOUBLE,
		     (rank + size - 1) % size, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (long step = 0; step < fault_steps; step++) {
		bool is_wrong = fault_is_now(rank, step);

		fault_pause(rank, step);
		shift(rank, size, is_wrong ? COLUMNS : ROWS);
		shift(rank, size, is_wrong ? ROWS : COLUMNS);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
