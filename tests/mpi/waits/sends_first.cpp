// SPDX-License-Identifier: BSD-3-Clause
// Everybody sends to two partners and then receives from anybody. That goes well as long as messages are
// short; from the step of the fault on they are too long to be buffered, and all wait in MPI_Send.
// expect: kind=deadlock lp=all
// says: MPI_Send; to receive
// ranks: 5:2 8:3
#include <mpi.h>
#include <vector>

#include "fault.h"

enum { SHORT = 8, LONG = 1 << 17 };

class Irregular {
public:
	Irregular(int rank, int size)
	{
		for (int away = 1; away <= 2; away++)
			to.push_back((rank + away) % size);
	}

	NOINLINE void exchange(std::vector<double> &out, std::vector<double> &in, int each)
	{
		for (size_t i = 0; i < to.size(); i++)
			MPI_Send(&out[i * each], each, MPI_DOUBLE, to[i], 5, MPI_COMM_WORLD);
		for (size_t i = 0; i < to.size(); i++)
			MPI_Recv(&in[i * each], each, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
	}

private:
	std::vector<int> to;
};

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	Irregular irregular(rank, size);
	std::vector<double> out(2 * LONG, rank), in(2 * LONG);
	for (long step = 0; step < fault_steps; step++) {
		double sum;

		fault_pause(rank, step);
		fault_is_now(rank, step);
		irregular.exchange(out, in, fault_rank >= 0 && step >= FAULT_STEP ? LONG : SHORT);
		MPI_Allreduce(&in[0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		out[0] = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
