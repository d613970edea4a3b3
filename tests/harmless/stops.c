/* SPDX-License-Identifier: BSD-3-Clause
 * How long processes stand still because of a tracer or a signal, seen from outside: looks at
 * the states of their main threads twice a millisecond until its standard input ends, then
 * prints, of all of them together,
 *
 *	NUMBER AT_LEAST AT_MOST
 *
 * how often one was seen standing still, and of the longest time how many microseconds it was at
 * least (from the first to the last look that saw it so) and at most (from the look before to
 * the look after). usage: stops PID... */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { STEP_NS = 500000, MAX_PROCESSES = 256 };

struct process {
	int stat;                   /* its /proc/PID/stat; negative: it has ended */
	uint64_t running_ns;        /* the last look that saw it not stand still */
	uint64_t first_ns, last_ns; /* that saw it stand still; 0: it does not */
};

static struct process processes[MAX_PROCESSES];
static uint64_t num_stops, at_least_ns, at_most_ns;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The letter behind the name, 0 if the process has ended. */
static char read_state(int stat)
{
	char text[256];
	ssize_t size = pread(stat, text, sizeof(text) - 1, 0);
	const char *end;

	if (size <= 0)
		return 0;
	text[size] = 0;
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : 0;
}

static void end_stop(struct process *process, uint64_t now)
{
	if (!process->first_ns)
		return;
	num_stops++;
	if (process->last_ns - process->first_ns > at_least_ns)
		at_least_ns = process->last_ns - process->first_ns;
	if (now - process->running_ns > at_most_ns)
		at_most_ns = now - process->running_ns;
	process->first_ns = 0;
}

static void look(struct process *process)
{
	uint64_t before = now_ns();
	char state = process->stat < 0 ? 0 : read_state(process->stat);

	if (state == 't' || state == 'T') {
		if (!process->first_ns)
			process->first_ns = before;
		process->last_ns = before;
		return;
	}
	end_stop(process, now_ns());
	process->running_ns = before;
}

static int is_over(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, 0) > 0;
}

int main(int argc, char **argv)
{
	struct sched_param priority = {.sched_priority = 2}; /* above that of what is measured */
	const struct timespec step = {0, STEP_NS};
	int num = argc - 1, i;

	if (num < 1 || num > MAX_PROCESSES)
		return 2;
	for (i = 0; i < num; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/stat", atoi(argv[i + 1]));
		processes[i].stat = open(path, O_RDONLY | O_CLOEXEC);
		processes[i].running_ns = now_ns();
	}
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	sched_setscheduler(0, SCHED_FIFO, &priority); /* where it is allowed */
	printf("looking\n");
	fflush(stdout);
	while (!is_over()) {
		for (i = 0; i < num; i++)
			look(&processes[i]);
		nanosleep(&step, NULL);
	}
	for (i = 0; i < num; i++)
		end_stop(&processes[i], now_ns());
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", num_stops, at_least_ns / 1000,
	       at_most_ns / 1000);
	return 0;
}
