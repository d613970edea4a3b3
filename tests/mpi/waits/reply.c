/* SPDX-License-Identifier: BSD-3-Clause
 * A reply left out: everybody asks its right neighbour and answers its left one. The faulty rank takes
 * the question but gives no answer.
 * expect: kind=lost,deadlock lp=R
 * says: rank {R-1}; tag 21
 * ranks: 4:2 8:5 */
#include <mpi.h>

#include "fault.h"

enum { QUESTION = 20, ANSWER = 21 };

int main(int argc, char **argv)
{
	int rank, size, left, right;
	double x, question, answer, sum;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	x = rank;
	for (long step = 0; step < fault_steps; step++) {
		fault_pause(rank, step);
		MPI_Isend(&x, 1, MPI_DOUBLE, right, QUESTION, MPI_COMM_WORLD, &request);
		MPI_Recv(&question, 1, MPI_DOUBLE, left, QUESTION, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		question = fault_work(question);
		if (!fault_is_now(rank, step))
			MPI_Send(&question, 1, MPI_DOUBLE, left, ANSWER, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Recv(&answer, 1, MPI_DOUBLE, right, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Allreduce(&answer, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		x = fault_work(sum);
	}
	MPI_Finalize();
	return 0;
}
