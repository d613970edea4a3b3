/* SPDX-License-Identifier: BSD-3-Clause
 * Values of all kinds in C, which are known for each rank. Ranks meet in a barrier that the last
 * one does not come to. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum color { RED, GREEN = 5 };

struct inner {
	double x;
	int k;
	unsigned int low : 3, high : 5;
};

struct grid {
	int nx, ny;
	double *data;
	struct inner in;
	char name[16];
	struct grid *next;
	enum color color;
};

int per_rank = 7;
const char marks[] = "a [pdb end] b"; /* what print has gdb write behind a value */
__thread int of_thread = 3;
static struct grid grids[3];
static volatile double sink;

static void __attribute__((noinline)) wait_for_all(int rank, int size)
{
	if (rank == size - 1) {
		puts("ready");
		fflush(stdout);
		for (;;)
			pause();
	}
	MPI_Barrier(MPI_COMM_WORLD);
	sink += size; /* the call is not the last thing done: else its frame may be left out */
}

static void __attribute__((noinline))
solve(struct grid *grid, int n, double tol, const char *label, int rank, int size)
{
	double work[20], many = rank * 0.5, sized[n / 100][2];
	int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};

	for (int i = 0; i < 20; i++)
		work[i] = i * rank;
	for (int i = 0; i < n / 100; i++)
		sized[i][0] = sized[i][1] = i + rank;
	of_thread += rank;
	work[3] = rank == 1 ? NAN : work[3];
	wait_for_all(rank, size);
	/* All of it is needed after the call. */
	for (int i = 0; i < 20; i++)
		sink += work[i] + matrix[i % 2][i % 3];
	sink += many + n + tol + label[0] + grid->nx + sized[n / 200][rank % 2];
}

int main(int argc, char **argv)
{
	struct grid grid = {.nx = 10, .ny = 20, .name = "main grid", .next = &grids[1]};
	double data[10] = {0};
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	grid.nx += rank == 2;
	grid.color = rank ? GREEN : RED;
	grid.in = (struct inner){0.1, -rank, 5, 17};
	grid.data = data;
	data[2] = 2 * rank;
	grids[1].nx = 99;
	per_rank += rank;
	solve(&grid, 1000, 1e-8, "conjugate gradient", rank, size);
	MPI_Finalize();
	return sink > 0 && data[2] > 0 && grid.color == GREEN;
}
