/* SPDX-License-Identifier: BSD-3-Clause
 * Healthy and deterministic: what each rank prints depends on every message so far, and on nothing
 * else. A message lost, doubled or changed, or a rank disturbed, shows in the output. A fourth
 * argument names a file: the job ends soon after it has been made.
 * expect: none
 * ranks: 4:-1 8:-1 */
#include <mpi.h>
#include <stdint.h>

#include "fault.h"

enum { PRINT_EVERY = 100 };

/* All ranks learn the same. */
static bool is_over(const char *end_file, int rank)
{
	int over = rank == 0 && access(end_file, F_OK) == 0;

	MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return over;
}

int main(int argc, char **argv)
{
	int rank, size;
	uint64_t x, got, sum;
	const char *end_file = argc > 4 ? argv[4] : NULL;
	char line[96];

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = (uint64_t)rank + 1;
	for (long step = 1; step <= fault_steps; step++) {
		MPI_Sendrecv(&x, 1, MPI_UINT64_T, (rank + 1) % size, 1, &got, 1, MPI_UINT64_T,
			     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		x = (x ^ got) * 6364136223846793005u + 1442695040888963407u + (uint64_t)rank;
		MPI_Allreduce(&x, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
		x ^= sum >> 7;
		if (step % PRINT_EVERY == 0) {
			int length = snprintf(line, sizeof(line), "step %ld rank %d: %016llx\n",
					      step, rank, (unsigned long long)x);

			if (write(STDOUT_FILENO, line, (size_t)length) != length)
				return 3;
			if (end_file && is_over(end_file, rank))
				break;
		}
	}
	MPI_Finalize();
	return 0;
}
