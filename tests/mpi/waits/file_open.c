/* SPDX-License-Identifier: BSD-3-Clause
 * A file opened by those that have something to write, though all are to open it: the faulty rank has
 * nothing and goes on to the barrier.
 * expect: kind=deadlock,mismatch lp=R where=write_dump
 * says: MPI_File_open; MPI_Barrier
 * ranks: 4:2 8:5 */
#include <mpi.h>

#include "fault.h"

static NOINLINE void write_dump(int rank, const char *path)
{
	MPI_File file;

	MPI_File_open(MPI_COMM_WORLD, path,
		      MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
		      &file);
	MPI_File_write_at(file, rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
}

int main(int argc, char **argv)
{
	int rank, pid = getpid();
	char path[64];

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(path, sizeof(path), "/tmp/pdb-file_open.%d", pid);
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (step % 4 == 0 && !fault_is_now(rank, step))
			write_dump(rank, path);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
