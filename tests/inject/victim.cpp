// SPDX-License-Identifier: BSD-3-Clause
// What tests/inject/check.sh catches: a program that computes, in two threads, and counts aloud.
// With an argument it sleeps instead, in the C library, and is hardly ever in its own code.
// Ends by itself after 20 seconds, whatever a broken test may leave behind.
#include <cstdio>
#include <ctime>
#include <pthread.h>
#include <unistd.h>

static volatile long work_done;

namespace victim
{
class Solver {
    public:
	__attribute__((noinline, used)) void compute(int amount);
	__attribute__((noinline, used)) long result() const;
	__attribute__((noinline, used)) void never();
};

void Solver::compute(int amount)
{
	for (int i = 0; i < amount; i++)
		work_done = work_done + 1;
}

long Solver::result() const
{
	return work_done;
}

void Solver::never()
{
	work_done = -1;
}
}

extern "C" __attribute__((noinline, used)) void advance(victim::Solver *solver)
{
	for (int i = 0; i < 100; i++)
		solver->compute(1000);
	asm volatile("" ::: "memory"); // no tail call: advance() stays on the stack
}

static void *idle(void *argument)
{
	for (;;)
		usleep(1000);
	return argument;
}

int main(int argc, char **)
{
	pthread_t thread;
	victim::Solver solver;
	time_t end = time(nullptr) + 20;

	pthread_create(&thread, nullptr, idle, nullptr);
	for (long step = 1; time(nullptr) < end; step++) {
		if (argc > 1)
			usleep(100000);
		else
			advance(&solver);
		if (argc == 1 && solver.result() != 100 * 1000 * step) {
			puts("wrong");
			return 1;
		}
		printf("%ld\n", step);
		fflush(stdout);
	}
	return 0;
}
