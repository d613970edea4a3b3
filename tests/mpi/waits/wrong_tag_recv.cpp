// SPDX-License-Identifier: BSD-3-Clause
// A receive with the wrong tag: the faulty rank receives with tag 13 what its left neighbour sends, as
// always, with tag 12. The message lies there, and which of the two is wrong follows only from what they
// did before.
// expect: kind=lost lp=R-1,R
// says: rank {R}; tag 13; tag 12; no receive takes; its receive may have the wrong tag; likely
// ranks: 4:2 8:5
#include <mpi.h>

#include "fault.h"

static NOINLINE void exchange(int rank, int size, double *u, bool is_wrong)
{
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	MPI_Request requests[4];

	MPI_Irecv(&u[0], 1, MPI_DOUBLE, left, is_wrong ? 13 : 12, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(&u[3], 1, MPI_DOUBLE, right, 11, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(&u[1], 1, MPI_DOUBLE, left, 11, MPI_COMM_WORLD, &requests[2]);
	MPI_Isend(&u[2], 1, MPI_DOUBLE, right, 12, MPI_COMM_WORLD, &requests[3]);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, size;
	double u[4] = {0, 1, 2, 3}, sum;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		exchange(rank, size, u, fault_is_now(rank, step));
		MPI_Allreduce(&u[0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		u[1] = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
