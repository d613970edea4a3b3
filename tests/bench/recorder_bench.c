/* SPDX-License-Identifier: BSD-3-Clause
 * What MPI calls cost at a given depth of the stack, in ns: the smallest mean of many short rounds,
 * so that other load on the machine does not show. They are calls that need nobody else: with
 * MPI_Send to MPI_PROC_NULL there is little else to measure, messages go to the rank itself. Prints
 * "CALLS FRAMES NS", NS for each call of a round, for 10 and 20 frames; then "clock 0 NS": one
 * reading of the time stamp that the recorder takes twice for each call. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 300, CALLS = 1000, REQUESTS = 16 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* ---- What is measured
 * ----------------------------------------------------------------------------- */

static int in, out = 1;

static void nobody(void)
{
	MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void sendrecv(void)
{
	MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
		     MPI_STATUS_IGNORE);
}

/* MPICH keeps a rank that sends to itself until it has posted the receive. */
static void send_wait(int source)
{
	MPI_Request request;

	MPI_Irecv(&in, 1, MPI_INT, source, 1, MPI_COMM_SELF, &request);
	MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void irecv_send_wait(void)
{
	send_wait(0);
}

static void irecv_any_send_wait(void)
{
	send_wait(MPI_ANY_SOURCE);
}

static void isend_irecv_wait(void)
{
	MPI_Request requests[2];

	MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
	MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void many_waitall(void)
{
	MPI_Request requests[2 * REQUESTS];
	int values[REQUESTS];

	for (int i = 0; i < REQUESTS; i++)
		MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
	for (int i = 0; i < REQUESTS; i++)
		MPI_Isend(&out, 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[REQUESTS + i]);
	MPI_Waitall(2 * REQUESTS, requests, MPI_STATUSES_IGNORE);
}

static void allreduce(void)
{
	MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static MPI_Request pending[REQUESTS];

static void test(void)
{
	int flag;

	MPI_Test(&pending[0], &flag, MPI_STATUS_IGNORE);
}

static void testall(void)
{
	int flag;

	MPI_Testall(REQUESTS, pending, &flag, MPI_STATUSES_IGNORE);
}

static void iprobe(void)
{
	int flag;

	MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static const struct measured {
	const char *name;
	int num_calls; /* of MPI, in one run */
	void (*run)(void);
} all[] = {
	{"MPI_Send-to-nobody", 1, nobody},
	{"MPI_Sendrecv", 1, sendrecv},
	{"MPI_Irecv+MPI_Send+MPI_Wait", 3, irecv_send_wait},
	{"MPI_Irecv-any+MPI_Send+MPI_Wait", 3, irecv_any_send_wait},
	{"MPI_Irecv+MPI_Isend+2*MPI_Wait", 4, isend_irecv_wait},
	{"16*(MPI_Irecv+MPI_Isend)+MPI_Waitall", 2 * REQUESTS + 1, many_waitall},
	{"MPI_Allreduce", 1, allreduce},
	{"MPI_Test", 1, test},
	{"MPI_Testall-of-16", 1, testall},
	{"MPI_Iprobe", 1, iprobe},
};

/* ---- Measuring
 * ------------------------------------------------------------------------------------ */

static __attribute__((noinline)) double measure(const struct measured *what)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double start = now_ns();
		int runs = CALLS / what->num_calls;
		for (int i = 0; i < runs; i++)
			what->run();
		double mean = (now_ns() - start) / runs / what->num_calls;
		best = mean < best ? mean : best;
	}
	return best;
}

/* One frame for each step: the addition after the call keeps it from being a jump. */
static __attribute__((noinline, noclone)) double at_depth(int frames, const struct measured *what)
{
	volatile double zero = 0;

	return (frames > 1 ? at_depth(frames - 1, what) : measure(what)) + zero;
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
	/* The function with the calls, measure(), main() and three frames of the C library are
	 * there anyway. */
	const int base = 6;
	int values[REQUESTS];

	MPI_Init(&argc, &argv);
	for (int i = 0; i < REQUESTS; i++)
		MPI_Irecv(&values[i], 1, MPI_INT, 0, 100 + i, MPI_COMM_SELF, &pending[i]);
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (int frames = 10; frames <= 20; frames += 10)
			printf("%s %d %.2f\n", all[i].name, frames,
			       at_depth(frames - base, &all[i]));
	printf("clock 0 %.2f\n", measure_clock());
	for (int i = 0; i < REQUESTS; i++)
		MPI_Send(&out, 1, MPI_INT, 0, 100 + i, MPI_COMM_SELF);
	MPI_Waitall(REQUESTS, pending, MPI_STATUSES_IGNORE);
	MPI_Finalize();
	return 0;
}
