/* SPDX-License-Identifier: BSD-3-Clause
 * A program of equal steps, in which one rank is slow in its way:
 *
 *	steps KIND RANK FILE
 *
 * Each rank prints its number and pid first. FILE is for the kind that reads pages of it. Goes on
 * until it is ended. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WORK = 1000000, LATER = 200, PAGE = 4096, PAGES = 64 };

static double sink = 1, value, sum;
static long step;
static int file = -1;

static void __attribute__((noinline)) compute(int times)
{
	for (int i = 0; i < times * WORK; i++)
		sink = sink * 1.0000001 + 1e-9;
}

static void nothing(void)
{
}

static void __attribute__((noinline)) more_work(void)
{
	compute(4);
}

static void __attribute__((noinline)) more_work_later(void)
{
	if (step >= LATER)
		compute(4);
}

static void __attribute__((noinline)) sleep_a_while(void)
{
	nanosleep(&(const struct timespec){.tv_nsec = 20000000}, NULL);
}

/* Pages that were just thrown away come from the disk again. */
static void __attribute__((noinline)) read_pages(void)
{
	const volatile char *pages;

	posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
	pages = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, file, 0);
	if (pages == MAP_FAILED)
		exit(1);
	madvise((void *)pages, PAGES * PAGE, MADV_RANDOM);
	for (int i = 0; i < PAGES; i++)
		sink += pages[i * PAGE];
	munmap((void *)pages, PAGES * PAGE);
}

static const struct kind {
	const char *name;
	void (*more)(void);
} kinds[] = {
	{"even", nothing},        {"work", more_work},   {"later", more_work_later},
	{"sleep", sleep_a_while}, {"pages", read_pages},
};

static void make_file(const char *path)
{
	static const char page[PAGE] = "x";

	file = open(path, O_RDWR | O_CREAT, 0600);
	for (int i = 0; file >= 0 && i < PAGES; i++)
		if (write(file, page, PAGE) != PAGE)
			exit(1);
	fsync(file);
}

int main(int argc, char **argv)
{
	const struct kind *kind = NULL;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (size_t i = 0; argc > 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			kind = &kinds[i];
	if (!kind)
		return 2;
	if (rank == atoi(argv[2]))
		make_file(argv[3]);
	printf("rank %d is %d\n", rank, (int)getpid());
	fflush(stdout);
	for (step = 0;; step++) {
		compute(1);
		if (rank == atoi(argv[2]))
			kind->more();
		MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
}
