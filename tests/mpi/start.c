/* SPDX-License-Identifier: BSD-3-Clause
 * The fault comes right after MPI_Init, before any other call of the faulty rank: its model has
 * nothing but the start.
 * expect: lp=R kind=computation where=read_input place=start
 * ranks: 4:3 8:0 */
#include <mpi.h>

#include "fault.h"

static NOINLINE double read_input(int rank)
{
	if (rank == fault_rank)
		FAULT_LOOP(rank);
	return fault_work(rank);
}

int main(int argc, char **argv)
{
	int rank;
	double x, sum;
	const char *env;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	/* From the environment, since asking MPI would be a call. */
	env = getenv("OMPI_COMM_WORLD_RANK");
	if (!env)
		env = getenv("PMIX_RANK");
	if (!env)
		env = getenv("PMI_RANK");
	rank = env ? atoi(env) : 0;
	x = read_input(rank);
	for (long step = 0; step < fault_steps; step++) {
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
