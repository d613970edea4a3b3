/* SPDX-License-Identifier: BSD-3-Clause
 * A job of many ranks that hardly needs a processor, and of which the right answer is known at
 * any time: in each step all work for some seconds, asleep; one, another each time, announces
 * that it will take longer, and says when it comes. The others wait for it in one collective
 * call: they ask for its end now and then and sleep in between, as ranks that wait inside MPI
 * would take all there is of the processors. usage: late MINUTES [SEED]; after so many minutes
 * each says that it is over, and ends well */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	MIN_WORK_MS = 2000,
	MAX_WORK_MS = 4000,
	MIN_LATE_MS = 12000,
	MAX_LATE_MS = 18000,
	POLL_MS = 1000,
	STRIDE = 37
};

static uint64_t state;

/* The same numbers in all ranks. */
static unsigned random_below(unsigned limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % limit;
}

static void sleep_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

static void say(const char *what, int rank)
{
	char line[64];
	int size = snprintf(line, sizeof(line), "%s: rank %d\n", what, rank);

	if (write(STDOUT_FILENO, line, (size_t)size) != size)
		_exit(3);
}

static void __attribute__((noinline)) work(int rank, bool is_late, long ms)
{
	if (is_late)
		say("late", rank);
	sleep_ms(ms);
	if (is_late)
		say("comes", rank);
}

/* Does any rank say so? */
static bool __attribute__((noinline)) meet(bool is_over)
{
	MPI_Request request;
	int own = is_over, any = 0, is_there = 0;

	MPI_Iallreduce(&own, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
	while (!is_there) {
		MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
		if (!is_there)
			sleep_ms(POLL_MS);
	}
	return any;
}

int main(int argc, char **argv)
{
	double minutes = argc > 1 ? atof(argv[1]) : 60;
	int rank, size, late;
	unsigned own;
	time_t end;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	own = (unsigned)state + (unsigned)rank;
	meet(false);
	end = time(NULL) + (time_t)(60 * minutes);
	late = (int)random_below((unsigned)size);
	for (bool is_over = false; !is_over;) {
		long late_ms = MIN_LATE_MS + random_below(MAX_LATE_MS - MIN_LATE_MS);
		long own_ms = MIN_WORK_MS + rand_r(&own) % (MAX_WORK_MS - MIN_WORK_MS);

		work(rank, rank == late, rank == late ? late_ms : own_ms);
		is_over = meet(rank == 0 && time(NULL) >= end);
		/* Everybody's turn comes before the first one's again: what a rank has done
		 * before is no news. */
		late = (late + STRIDE) % size;
	}
	say("over", rank);
	MPI_Finalize();
	return 0;
}
