// SPDX-License-Identifier: BSD-3-Clause
// Two threads of one rank lock two mutexes in different order and wait for each other outside MPI; all
// other ranks wait for this one.
// expect: lp=R kind=computation where=update
// ranks: 4:2 8:5
// flags: -pthread
#include <atomic>
#include <mpi.h>
#include <mutex>
#include <thread>

#include "fault.h"

enum { FAULTY_STEP = 12 };

static std::mutex cells, faces;
static std::atomic<int> holding(0);

static void meet()
{
	holding++;
	while (holding < 2)
		std::this_thread::yield();
}

static NOINLINE void tidy()
{
	std::lock_guard<std::mutex> first(faces);
	meet();
	std::lock_guard<std::mutex> second(cells);
}

static NOINLINE double update(int rank, long step, double x)
{
	if (rank == fault_rank && step == FAULTY_STEP) {
		fault_announce(rank);
		std::lock_guard<std::mutex> first(cells);
		std::thread helper(tidy);
		meet();
		std::lock_guard<std::mutex> second(faces);
		helper.join();
	}
	return fault_work(x);
}

int main(int argc, char **argv)
{
	int rank, provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	double x = rank, sum;
	for (long step = 0; step < fault_steps; step++) {
		x = update(rank, step, x);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
