/* SPDX-License-Identifier: BSD-3-Clause
 * The seeded fault of the programs in this folder, and what their arguments mean:
 *
 *	PROGRAM [FAULTY_RANK [STEPS [SLOW_RANK]]]
 *
 * FAULTY_RANK -1 (the default) means no fault: the healthy variant that every program has. The
 * programs in waits/ have a slow twin, too: correct, but SLOW_RANK takes up to seconds for each
 * step while the others wait for it. fault.fi is the same for Fortran. */
#ifndef PDB_TESTS_MPI_FAULT_H
#define PDB_TESTS_MPI_FAULT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static int fault_rank = -1;
static long fault_steps = 1000000000;
static int fault_slow_rank = -1;

enum { FAULT_STEP = 12 };

/* Volatile, so that the loop on it stays a loop whatever the optimizer thinks of it. */
static volatile int fault_flag = 1;

static inline void fault_arguments(int argc, char **argv)
{
	if (argc > 1)
		fault_rank = atoi(argv[1]);
	if (argc > 2)
		fault_steps = atol(argv[2]);
	if (argc > 3)
		fault_slow_rank = atoi(argv[3]);
}

/* One write, so that the line is whole and is there before the loop begins. */
static NOINLINE void fault_announce(int rank)
{
	char line[64];
	int size = snprintf(line, sizeof(line), "fault: rank %d\n", rank);

	if (write(STDOUT_FILENO, line, (size_t)size) != size)
		_exit(3);
}

/* Whether this is the faulty rank's moment to do the wrong thing. */
static inline bool fault_is_now(int rank, long step)
{
	bool is_now = rank == fault_rank && step == FAULT_STEP;

	if (is_now)
		fault_announce(rank);
	return is_now;
}

/* The slow twin's long step: 0.6, 2.4, 0.3, 1.2 s and so on, computing and asleep in turns. */
static NOINLINE void fault_pause(int rank, long step)
{
	static const int tenths[] = {6, 24, 3, 12};
	struct timespec now, end, pause = {.tv_nsec = 10000000};

	if (rank != fault_slow_rank)
		return;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += tenths[step % 4] % 10 * 100000000L;
	end.tv_sec += tenths[step % 4] / 10 + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do {
		if (step / 2 % 2)
			nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec ||
		 (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
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
