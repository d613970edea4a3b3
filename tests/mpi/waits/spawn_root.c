/* SPDX-License-Identifier: BSD-3-Clause
 * New processes by a part of the ranks: the faulty rank calls MPI_Comm_spawn over MPI_COMM_WORLD,
 * which all others leave out.
 * expect: kind=deadlock,mismatch
 * says: MPI_Comm_spawn; MPI_Barrier; MPI_COMM_WORLD
 * ranks: 4:0 8:0
 * mpi: openmpi */
#include <mpi.h>

#include "fault.h"

/* They are to do no steps. */
static NOINLINE void start_helpers(const char *program)
{
	char none[] = "-1", steps[] = "0", *arguments[] = {none, steps, NULL};
	MPI_Comm helpers;

	MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &helpers,
		       MPI_ERRCODES_IGNORE);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (fault_is_now(rank, step))
			start_helpers(argv[0]);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
