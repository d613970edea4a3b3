/* SPDX-License-Identifier: BSD-3-Clause
 * A rank has opened all descriptors that it may have, and tries again and again to open one more,
 * while the others wait for it in a sum.
 * expect: kind=computation lp=R where=open_again
 * says: all \d+ file descriptors that it may have are open
 * ranks: 4:1 8:6 */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <sys/resource.h>

#include "fault.h"

static NOINLINE void open_again(void)
{
	while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0 || errno == EMFILE)
		if (errno == EMFILE)
			usleep(50000);
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
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (fault_is_now(rank, step)) {
			setrlimit(RLIMIT_NOFILE, &(struct rlimit){200, 200});
			open_again();
		}
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
