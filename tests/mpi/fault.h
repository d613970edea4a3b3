/* SPDX-License-Identifier: BSD-3-Clause
 * The seeded fault of the programs in this folder, and what their arguments mean:
 *
 *	PROGRAM [FAULTY_RANK [STEPS]]
 *
 * FAULTY_RANK -1 (the default) means no fault: the healthy variant that every program has. */
#ifndef PDB_TESTS_MPI_FAULT_H
#define PDB_TESTS_MPI_FAULT_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static int fault_rank = -1;
static long fault_steps = 1000000000;

/* Volatile, so that the loop on it stays a loop whatever the optimizer thinks of it. */
static volatile int fault_flag = 1;

static inline void fault_arguments(int argc, char **argv)
{
	if (argc > 1)
		fault_rank = atoi(argv[1]);
	if (argc > 2)
		fault_steps = atol(argv[2]);
}

/* One write, so that the line is whole and is there before the loop begins. */
static NOINLINE void fault_announce(int rank)
{
	char line[64];
	int size = snprintf(line, sizeof(line), "fault: rank %d\n", rank);

	if (write(STDOUT_FILENO, line, (size_t)size) != size)
		_exit(3);
}

/* A macro, so that the endless loop is in the function that uses it. */
#define FAULT_LOOP(rank)                                                                           \
	do {                                                                                       \
		fault_announce(rank);                                                              \
		while (fault_flag)                                                                 \
			;                                                                          \
	} while (0)

/* A little work that depends on its input, so that it stays. */
static inline double fault_work(double x)
{
	for (int i = 0; i < 200; i++)
		x = x * 0.999 + 0.001 * i;
	return x;
}

#endif
