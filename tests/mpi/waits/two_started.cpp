// SPDX-License-Identifier: BSD-3-Clause
// Two non-blocking collectives at once: the faulty rank starts its MPI_Iallreduce before its MPI_Ibcast,
// all others after it.
// expect: kind=mismatch lp=R where=start_both
// says: MPI_Ibcast; MPI_Iallreduce
// ranks: 4:3 8:5
#include <mpi.h>
#include <vector>

#include "fault.h"

enum { LONG = 30000 };

static std::vector<double> shared(LONG), mine(LONG), sums(LONG);

static NOINLINE void start_both(int rank, long step)
{
	bool is_turned = fault_is_now(rank, step);
	MPI_Request requests[2];

	for (int i = 0; i < 2; i++) {
		if ((i == 0) != is_turned)
			MPI_Ibcast(shared.data(), LONG, MPI_DOUBLE, 0, MPI_COMM_WORLD, &requests[0]);
		else
			MPI_Iallreduce(mine.data(), sums.data(), LONG, MPI_DOUBLE, MPI_SUM,
				       MPI_COMM_WORLD, &requests[1]);
	}
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		start_both(rank, step);
		mine[0] = fault_work(sums[0]);
	}
	MPI_Finalize();
	return 0;
}
