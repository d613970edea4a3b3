/* SPDX-License-Identifier: BSD-3-Clause
 * What MPI calls cost at a given depth of the stack, in ns: the smallest mean of many short rounds,
 * so that other load on the machine does not show. They are calls that need nobody else: with
 * a send to MPI_PROC_NULL there is little else to measure, messages and epochs are with the rank
 * itself. Prints "CALLS FRAMES NS REQUESTS", NS for each call of a round, for 10 and 20 frames, and
 * the requests that each is about, where that is many; then "clock 0 NS 0": one reading of
 * the time stamp that the recorder takes twice for each call.
 *
 *	recorder_bench [-mx] [-n ROUNDS] [NAME...]
 *
 * -m: with MPI_THREAD_MULTIPLE; NAME: only the calls whose name it is part of, or with -x, is. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "recorder_bench.h"

enum { CALLS = 1000, ROUNDS_BEFORE = 10 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int num_rounds = 300;

static __attribute__((noinline)) double measure(const struct measured *what, int rounds)
{
	double best = 1e9;

	for (int round = 0; round < rounds; round++) {
		double start = now_ns();
		int runs = CALLS / what->num_calls;
		for (int i = 0; i < runs; i++)
			what->run();
		double mean = (now_ns() - start) / runs / what->num_calls;
		best = mean < best ? mean : best;
	}
	return best;
}

/* Once before, so that what is only done the first time is not counted: by the same call, of
 * which the compiler must not make two. */
static __attribute__((noinline)) double measure_known(const struct measured *what)
{
	volatile int passes = 2;
	double best = 0;

	for (int pass = 0; pass < passes; pass++)
		best = measure(what, pass ? num_rounds : ROUNDS_BEFORE);
	return best;
}

/* One frame for each step: the addition after the call keeps it from being a jump. */
static __attribute__((noinline, noclone)) double at_depth(int frames, const struct measured *what)
{
	volatile double zero = 0;

	return (frames > 1 ? at_depth(frames - 1, what) : measure_known(what)) + zero;
}

static double measure_clock(void)
{
	double best = 1e9;

	for (int round = 0; round < num_rounds; round++) {
		volatile uint64_t sink;
		double start = now_ns();
		for (int i = 0; i < CALLS; i++) {
#if defined(__x86_64__)
			sink = __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
			uint64_t ticks;
			__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
			sink = ticks;
#else
			sink = now_ns();
#endif
		}
		(void)sink;
		double mean = (now_ns() - start) / CALLS;
		best = mean < best ? mean : best;
	}
	return best;
}

static bool is_wanted(const char *name, char **parts, bool is_whole)
{
	for (char **part = parts; *part; part++)
		if (is_whole ? !strcmp(name, *part) : strstr(name, *part) != NULL)
			return true;
	return !*parts;
}

int main(int argc, char **argv)
{
	/* The function with the calls, measure(), measure_known(), main() and three frames of the C
	 * library are there anyway. */
	const int base = 7;
	int level = MPI_THREAD_SINGLE;
	bool is_whole = false;

	for (int option; (option = getopt(argc, argv, "mn:x")) != -1;) {
		if (option == 'm')
			level = MPI_THREAD_MULTIPLE;
		else if (option == 'x')
			is_whole = true;
		else if (option == 'n')
			num_rounds = atoi(optarg);
		else
			return 2;
	}
	MPI_Init_thread(NULL, NULL, level, &level);
	measured_begin();
	for (const struct measured *m = all_measured; m < all_measured + num_measured; m++) {
		if (!is_wanted(m->name, argv + optind, is_whole))
			continue;
		for (int frames = 10; frames <= 20; frames += 10)
			printf("%s %d %.2f %d\n", m->name, frames, at_depth(frames - base, m),
			       m->num_requests);
	}
	printf("clock 0 %.2f 0\n", measure_clock());
	measured_end();
	MPI_Finalize();
	return 0;
}
