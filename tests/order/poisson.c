/* SPDX-License-Identifier: BSD-3-Clause
 * usage: poisson STALLED_RANK [receive]
 * A Poisson solver by Jacobi iterations on horizontal strips, two half steps in each iteration. One
 * rank stalls in its first norm of iteration STALL: it computes, or waits for a message that nobody
 * sends. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

enum { WIDTH = 64, HEIGHT = 8, MAX_ITERATIONS = 1000000, STALL = 17 };

static double a[HEIGHT + 2][WIDTH], b[HEIGHT + 2][WIDTH];
static int rank, size;
static double diff;
static int receives;

static NOINLINE void exchange_band(double band[HEIGHT + 2][WIDTH])
{
	int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	int down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;

	MPI_Sendrecv(band[1], WIDTH, MPI_DOUBLE, up, 0, band[HEIGHT + 1], WIDTH, MPI_DOUBLE, down,
		     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(band[HEIGHT], WIDTH, MPI_DOUBLE, down, 1, band[0], WIDTH, MPI_DOUBLE, up, 1,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static NOINLINE void sweep_band(double from[HEIGHT + 2][WIDTH], double to[HEIGHT + 2][WIDTH])
{
	for (int row = 1; row <= HEIGHT; row++)
		for (int column = 1; column + 1 < WIDTH; column++)
			to[row][column] = 0.25 * (from[row - 1][column] + from[row + 1][column] +
						  from[row][column - 1] + from[row][column + 1]);
}

static NOINLINE double get_norm(double from[HEIGHT + 2][WIDTH], double to[HEIGHT + 2][WIDTH],
				int stalls)
{
	double sum = 0;

	if (stalls && receives) {
		fault_announce(rank);
		MPI_Recv(&sum, 1, MPI_DOUBLE, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (stalls) {
		FAULT_LOOP(rank);
	}
	for (int row = 1; row <= HEIGHT; row++)
		for (int column = 0; column < WIDTH; column++)
			sum += fabs(to[row][column] - from[row][column]);
	return sum;
}

static NOINLINE int poisson(void)
{
	int it = 0, converged = 0;
	double norm;

	while (it < MAX_ITERATIONS) {
		exchange_band(a);
		sweep_band(a, b);
		norm = get_norm(a, b, rank == fault_rank && it == STALL);
		exchange_band(b);
		sweep_band(b, a);
		norm += get_norm(b, a, 0);
		MPI_Allreduce(&norm, &diff, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (diff <= 0)
			converged = 1;
		if (converged)
			break;
		it++;
	}
	return converged;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	fault_arguments(argc, argv);
	receives = argc > 2 && strcmp(argv[2], "receive") == 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int column = 0; column < WIDTH; column++)
		a[0][column] = b[0][column] = rank + 1;
	poisson();
	MPI_Finalize();
	return 0;
}
