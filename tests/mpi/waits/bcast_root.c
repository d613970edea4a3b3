/* SPDX-License-Identifier: BSD-3-Clause
 * Different roots: the faulty rank believes that it is the one that broadcasts. The message is too
 * long to be buffered, so that neither it nor rank 1 gets rid of its own.
 * expect: kind=mismatch lp=R where=share
 * says: MPI_Bcast; root 1; root {R}
 * ranks: 6:3 8:6 */
#include <mpi.h>

#include "fault.h"

enum { LONG = 1 << 17 };

static double record[LONG];

static NOINLINE void share(int rank, long step)
{
	MPI_Bcast(record, LONG, MPI_DOUBLE, fault_is_now(rank, step) ? rank : 1, MPI_COMM_WORLD);
	record[1] = rank; /* not a tail call */
}

int main(int argc, char **argv)
{
	int rank;
	double sum;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		share(rank, step);
		MPI_Allreduce(record, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		record[0] = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
