// SPDX-License-Identifier: BSD-3-Clause
// C++: the fault is in a method of a class in a namespace, shown by its demangled name.
// expect: lp=R kind=computation where=flow::Grid::relax
// ranks: 4:2 8:5
#include <mpi.h>

#include "fault.h"

namespace flow
{

class Grid
{
    public:
	explicit Grid(MPI_Comm comm) : comm_(comm)
	{
		MPI_Comm_rank(comm_, &rank_);
		value_ = rank_;
	}

	void step(long number)
	{
		double sum = 0;

		relax(number);
		MPI_Allreduce(&value_, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_);
		value_ /= 1 + sum;
	}

    private:
	static constexpr long faulty_step = 10;

	NOINLINE void relax(long number)
	{
		if (rank_ == fault_rank && number == faulty_step)
			FAULT_LOOP(rank_);
		value_ = fault_work(value_);
	}

	MPI_Comm comm_;
	int rank_ = 0;
	double value_ = 0;
};

} // namespace flow

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	flow::Grid grid(MPI_COMM_WORLD);
	for (long step = 0; step < fault_steps; step++)
		grid.step(step);
	MPI_Finalize();
	return 0;
}
