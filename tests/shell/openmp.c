/* SPDX-License-Identifier: BSD-3-Clause
 * Two threads in each rank: in rank 0 both are at work in a region, in all others the main thread
 * has left its part and waits for the other. Says "ready" when all are there; ends when it is
 * killed. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static volatile int there;

__attribute__((noinline)) static void work_for_ever(void)
{
	__atomic_add_fetch(&there, 1, __ATOMIC_SEQ_CST);
	for (;;)
		usleep(100000);
}

__attribute__((noinline)) static void solve(int rank)
{
#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num() == 1 || rank == 0)
			work_for_ever();
		while (there < 1)
			usleep(1000);
	}
}

int main(int argc, char **argv)
{
	int provided, rank;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		puts("ready");
	fflush(stdout);
	solve(rank);
	MPI_Finalize();
	return 0;
}
