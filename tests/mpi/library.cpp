// SPDX-License-Identifier: BSD-3-Clause
// C++, optimized: the rank goes round a list for ever, in code that is nothing but the standard library's
// and inlined into the program's own functions. These are named, and what of the library's comes behind.
// expect: lp=R kind=computation where=tables::find
// says: tables::find\(\) at library\.cpp:\d+ \(std::
// ranks: 4:2 8:5
#include <algorithm>
#include <list>
#include <mpi.h>

#include "fault.h"

namespace tables
{

static std::list<int> entries;

/* Found at once, or never while the flag is set. */
static inline bool find(int wanted)
{
	while (fault_flag)
		if (std::find(entries.begin(), entries.end(), wanted) != entries.end())
			return true;
	return false;
}

} // namespace tables

int main(int argc, char **argv)
{
	constexpr int faulty_step = 12, num_entries = 100000;
	double x = 1, sum;
	int rank;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < num_entries; i++)
		tables::entries.push_back(i);
	for (long step = 0; step < fault_steps; step++) {
		bool is_faulty = rank == fault_rank && step == faulty_step;

		if (is_faulty)
			fault_announce(rank);
		x += tables::find(is_faulty ? -1 : 0);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = sum / (1 + sum);
	}
	MPI_Finalize();
	return 0;
}
