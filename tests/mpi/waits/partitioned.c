/* SPDX-License-Identifier: BSD-3-Clause
 * Partitioned communication: a message to the right in four parts, each sent as it gets ready. The
 * faulty rank does not start one.
 * expect: kind=lost lp=R
 * says: rank {R+1}; tag 6
 * ranks: 4:1 8:6
 * mpi: openmpi5 mpich */
#include <mpi.h>

#include "fault.h"

enum { PARTS = 4 };

int main(int argc, char **argv)
{
	int rank, size;
	double x[PARTS] = {0}, got[PARTS] = {0}, sum;
	MPI_Request send, recv;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Psend_init(x, PARTS, 1, MPI_DOUBLE, (rank + 1) % size, 6, MPI_COMM_WORLD, MPI_INFO_NULL,
		       &send);
	MPI_Precv_init(got, PARTS, 1, MPI_DOUBLE, (rank + size - 1) % size, 6, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &recv);
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		MPI_Start(&recv);
		if (!fault_is_now(rank, step)) {
			MPI_Start(&send);
			for (int part = 0; part < PARTS; part++) {
				x[part] = fault_work(got[part]);
				MPI_Pready(part, send);
			}
		}
		MPI_Wait(&recv, MPI_STATUS_IGNORE);
		MPI_Wait(&send, MPI_STATUS_IGNORE);
		MPI_Allreduce(x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Request_free(&send);
	MPI_Request_free(&recv);
	MPI_Finalize();
	return 0;
}
