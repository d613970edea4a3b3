// SPDX-License-Identifier: BSD-3-Clause
// Values of all kinds in C++, which are known for each rank.
#include <cstdio>
#include <map>
#include <mpi.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace physics
{
double gravity = 9.81;

struct Base {
	virtual ~Base() {}
	int id = 4;
};

template <class T> struct Field : Base {
	std::vector<T> data;
	std::string name;
	std::map<int, int> owners;
	T last;
	bool ok = true;

	__attribute__((noinline)) T sweep(const std::string &label, int &seen, int rank, int size)
	{
		T local = last + 1;

		if (rank == size - 1) {
			puts("ready");
			fflush(stdout);
			for (;;)
				pause();
		}
		MPI_Barrier(MPI_COMM_WORLD);
		seen++;
		return local + label.size() + data.size();
	}
};
} // namespace physics

enum class Mode { Fast, Slow };

int main(int argc, char **argv)
{
	physics::Field<double> field;
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	field.data.resize(5, 1.5);
	field.name = "a name that is longer than what fits into the object";
	field.last = rank;
	field.owners[3] = rank;
	Mode mode = rank ? Mode::Slow : Mode::Fast;
	int seen = 100 * rank;
	double sum = field.sweep("label", seen, rank, size);
	printf("%d %d %g\n", (int)mode, seen, sum + physics::gravity);
	MPI_Finalize();
}
