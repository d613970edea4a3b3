// SPDX-License-Identifier: BSD-3-Clause
// The handler of a timer's signal takes a lock that the interrupted code holds. All of it is inlined: the
// lock's library into the handler, and the interrupted function into main().
// expect: lp=R kind=computation where=on_alarm()
// says: handling signal 14 that interrupted update\(\) at handler\.cpp; __gthread_mutex_lock\(\); waits for mutex 'table' that it holds itself
// ranks: 4:2 8:5
#include <csignal>
#include <mpi.h>
#include <mutex>

#include "fault.h"

static std::mutex table;
static volatile double total;

static void on_alarm(int)
{
	table.lock();
	total = total + 1;
	table.unlock();
}

static inline void update(int rank, long step)
{
	table.lock();
	total = fault_work(total);
	if (fault_is_now(rank, step))
		raise(SIGALRM); /* the timer fires just here */
	table.unlock();
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	signal(SIGALRM, on_alarm);
	for (long step = 0; step < fault_steps; step++) {
		double x = total, sum;

		update(rank, step);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
