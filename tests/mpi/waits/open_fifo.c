/* SPDX-License-Identifier: BSD-3-Clause
 * The faulty rank opens a FIFO that nobody has open for writing; the others wait for it in
 * MPI_Allreduce.
 * expect: kind=computation lp=R where=read_restart
 * says: sleeps in open(at)?\(\), .*restart\.fifo.*nobody has it open for writing
 * ranks: 4:1 8:6 */
#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>

#include "fault.h"

static NOINLINE double read_restart(void)
{
	double x = 0;
	int fd;

	mkfifo("restart.fifo", 0600);
	fd = open("restart.fifo", O_RDONLY);
	if (read(fd, &x, sizeof(x)) != sizeof(x))
		x = 1;
	close(fd);
	return x;
}

int main(int argc, char **argv)
{
	int rank;
	double x, sum;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		if (fault_is_now(rank, step))
			x = read_restart();
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
