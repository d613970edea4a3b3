/* SPDX-License-Identifier: BSD-3-Clause
 * A nested loop: time steps, and in each a fixed number of sweeps with a global residual.
 * expect: lp=R kind=computation where=relax
 * ranks: 4:2 8:5 */
#include <mpi.h>

#include "fault.h"

enum { SWEEPS = 5, FAULTY_STEP = 8, FAULTY_SWEEP = 3 };

static NOINLINE double relax(int rank, long step, int sweep, double x)
{
	if (rank == fault_rank && step == FAULTY_STEP && sweep == FAULTY_SWEEP)
		FAULT_LOOP(rank);
	return fault_work(x);
}

static double exchange(int rank, int size, double x)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	double got = 0;

	MPI_Sendrecv(&x, 1, MPI_DOUBLE, right, 1, &got, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	return got;
}

int main(int argc, char **argv)
{
	int rank, size;
	double x, residual;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		x += exchange(rank, size, x);
		for (int sweep = 0; sweep < SWEEPS; sweep++) {
			x = relax(rank, step, sweep, x);
			MPI_Allreduce(&x, &residual, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
			x /= 1 + residual;
		}
	}
	MPI_Finalize();
	return 0;
}
