/* SPDX-License-Identifier: BSD-3-Clause
 * In each step a rank writes under a lock of a file. Rank 0 keeps the lock in the faulty rank's
 * step and waits for it at the barrier; the faulty rank waits for the lock.
 * expect: kind=computation lp=R where=set_lock
 * says: sleeps in fcntl\(\), .*results\.\d+\.lock.*: rank 0 \(process \d+, .*\) holds the lock
 * ranks: 4:1 8:6 */
#include <fcntl.h>
#include <mpi.h>

#include "fault.h"

static int file;

/* Of this job alone, and nothing is left of it. */
static int open_together(int rank)
{
	char path[64];
	int number = getpid(), fd;

	MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(path, sizeof(path), "/dev/shm/results.%d.lock", number);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		unlink(path);
	return fd;
}

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
	file = open_together(rank);
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
