/* SPDX-License-Identifier: BSD-3-Clause
 * Healthy, with hardly any call but those that may only look: each rank relaxes its value against
 * those of its neighbours, which it gets as they are, and looks at a counter of finished parts with
 * MPI_Fetch_and_op. All meet in a sum now and then.
 * expect: none
 * ranks: 4:-1 8:-1 */
#include <mpi.h>

#include "fault.h"

enum { STEPS_BETWEEN_SUMS = 2000 };

static double look(int target, MPI_Win window)
{
	double got;

	MPI_Get(&got, 1, MPI_DOUBLE, target, 0, 1, MPI_DOUBLE, window);
	MPI_Win_flush(target, window);
	return got;
}

int main(int argc, char **argv)
{
	int rank, size;
	double *x, sum, done = 0, none = 0;
	MPI_Win window;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate(2 * sizeof(*x), sizeof(*x), MPI_INFO_NULL, MPI_COMM_WORLD, &x, &window);
	x[0] = rank;
	x[1] = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, window);
	for (long step = 1; step < fault_steps; step++) {
		double left = look((rank + size - 1) % size, window);
		double right = look((rank + 1) % size, window);

		x[0] = fault_work(0.4 * (left + right) + rank + 1e-3 * (double)(step % 1000));
		MPI_Win_sync(window);
		MPI_Fetch_and_op(&none, &done, MPI_DOUBLE, 0, 1, MPI_NO_OP, window);
		MPI_Win_flush(0, window);
		if (step % STEPS_BETWEEN_SUMS == 0)
			MPI_Allreduce(&x[0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Win_unlock_all(window);
	MPI_Win_free(&window);
	MPI_Finalize();
	return done > 0;
}
