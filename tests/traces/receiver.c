/* SPDX-License-Identifier: BSD-3-Clause
 * All ranks but the first send to it (Taheri et al., "DiffTrace: Efficient Whole-Program Trace
 * Analysis and Diffing", table I). In the new version one of them sends twice. */
#include <mpi.h>

#include "version.h"

enum { TAG = 1 };

int main(int argc, char **argv)
{
	int rank, size, got;

	version_arguments(argc, argv);
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank != 0)
		MPI_Send(&rank, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
	for (int from = 1; rank == 0 && from < size; from++)
		MPI_Recv(&got, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (version_is("twice", rank, 0))
		MPI_Send(&rank, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
	version_hold();
}
