/* SPDX-License-Identifier: BSD-3-Clause
 * What one MPI call costs at a given depth of the stack, in ns: the smallest mean of many short
 * rounds, so that other load on the machine does not show. With MPI_Send to MPI_PROC_NULL there
 * is little else to measure. Prints "FRAMES NS" for 10 and 20 frames, then "clock NS": one reading
 * of the time stamp that the recorder takes twice for each call. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 300, CALLS = 2000 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static __attribute__((noinline)) double measure_call(void)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double start = now_ns();
		for (int i = 0; i < CALLS; i++)
			MPI_Send(&best, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
		double mean = (now_ns() - start) / CALLS;
		best = mean < best ? mean : best;
	}
	return best;
}

/* One frame for each step: the addition after the call keeps it from being a jump. */
static __attribute__((noinline, noclone)) double at_depth(int frames)
{
	volatile double zero = 0;

	return (frames > 1 ? at_depth(frames - 1) : measure_call()) + zero;
}

static double measure_clock(void)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
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

int main(int argc, char **argv)
{
	/* measure_call(), main() and three frames of the C library are there anyway. */
	const int base = 5;

	MPI_Init(&argc, &argv);
	for (int frames = 10; frames <= 20; frames += 10)
		printf("%d %.2f\n", frames, at_depth(frames - base));
	printf("clock %.2f\n", measure_clock());
	MPI_Finalize();
	return 0;
}
