/* SPDX-License-Identifier: BSD-3-Clause
 * In each step a rank writes under a lock of a file. Rank 0 keeps the lock in the faulty rank's step
 * and waits for it at the barrier; the faulty rank waits for the lock.
 * expect: kind=computation lp=R where=set_lock
 * says: sleeps in fcntl\(\), .*results\.lock.*process \d+ .* holds the lock
 * ranks: 4:1 8:6 */
#include <fcntl.h>
#include <mpi.h>

#include "fault.h"

static int file;

static void set_lock(short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET};

	if (fcntl(file, F_SETLKW, &lock))
		_exit(5);
}

static NOINLINE void append(bool keeps)
{
	set_lock(F_WRLCK);
	if (!keeps)
		set_lock(F_UNLCK);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	file = open("results.lock", O_RDWR | O_CREAT, 0600);
	for (long step = 0; step < fault_steps; step++) {
		bool is_last = fault_rank >= 0 && step == FAULT_STEP;

		fault_pause(rank, step);
		if (rank == 0)
			append(is_last);
		MPI_Barrier(MPI_COMM_WORLD);
		if (fault_is_now(rank, step))
			append(false);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
