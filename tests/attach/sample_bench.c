/* SPDX-License-Identifier: BSD-3-Clause
 * sample_bench PID [GDB_RANKS]: what a stack sample of each rank of a job costs: how long the rank
 * is stopped for it, and how long it takes until the frames are known; beside eu-stack and gdb (of
 * the first GDB_RANKS ranks only, 3), whose stops are watched from outside. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/launchers/launcher.h"
#include "attach/process/procfs.h"
#include "attach/stacks/sampler.h"
#include "model/job/callpath.h"
#include "model/error.h"
#include "model/job/modules.h"
#include "model/job/sample.h"
#include "model/xalloc.h"

#define ROUNDS 200
#define MAX_RANKS 256

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print_line(const char *what, double *stops, size_t num_stops, double total_us,
		       size_t num_samples)
{
	qsort(stops, num_stops, sizeof(*stops), compare);
	if (!num_stops)
		return;
	printf("%-28s %7zu %12.1f %12.1f %12.1f\n", what, num_samples, stops[num_stops / 2],
	       stops[num_stops - 1], total_us / (double)num_samples);
}

static int bench_pdb(const struct sampler_target *targets, size_t num)
{
	struct modules *modules = modules_create();
	struct callpaths *callpaths = callpaths_create();
	struct sampler *sampler = sampler_create(modules, callpaths);
	double *stops = xcalloc(num * ROUNDS, sizeof(*stops));
	size_t num_stops = 0, num_first = 0, i;
	double start = now_us(), first_us = 0;
	struct pdb_error err;
	int round, result = 0;

	for (round = 0; round < ROUNDS && !result; round++) {
		struct samples *samples = samples_create();

		result = sampler_take(sampler, targets, num, 0, samples, &err);
		for (i = 0; i < samples->num_samples; i++) {
			if (samples->samples[i].status != SAMPLE_FAILED)
				stops[num_stops++] = samples->samples[i].stopped_ns / 1e3;
		}
		samples_destroy(samples);
		if (round == 0) {
			first_us = now_us() - start;
			num_first = num_stops;
			print_line("pdb, first time", stops, num_stops, first_us, num);
			start = now_us();
		}
	}
	if (result)
		printf("%s\n", err.text);
	else
		print_line("pdb, again", stops + num_first, num_stops - num_first, now_us() - start,
			   num_stops - num_first);
	free(stops);
	sampler_destroy(sampler);
	callpaths_destroy(callpaths);
	modules_destroy(modules);
	return result;
}

/* Run a command on a rank and watch for how long the rank is in a tracing stop. Returns the time
 * that the command took in us, or -1 if it failed. */
static double run_on(pid_t rank, char *const argv[], double *stop_us)
{
	double start = now_us(), first = 0, last = 0;
	struct procfs_stat stat;
	int status;
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (!procfs_stat(rank, 0, &stat) && stat.state == 't') {
			last = now_us();
			if (!first)
				first = last;
		}
		usleep(50);
	}
	*stop_us = last - first;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? now_us() - start : -1;
}

static void bench_command(const char *what, const struct sampler_target *targets, size_t num,
			  char **argv, int pid_argument)
{
	double *stops = xcalloc(num, sizeof(*stops)), total = 0;
	size_t i;

	for (i = 0; i < num; i++) {
		char pid[16];
		double us;

		snprintf(pid, sizeof(pid), "%d", (int)targets[i].pid);
		argv[pid_argument] = pid;
		us = run_on(targets[i].pid, argv, &stops[i]);
		if (us < 0) {
			printf("%-28s failed\n", what);
			free(stops);
			return;
		}
		total += us;
	}
	print_line(what, stops, num, total, num);
	free(stops);
}

int main(int argc, char **argv)
{
	char *eu_stack[] = {(char *)"eu-stack", (char *)"-p", NULL, NULL};
	char *gdb[] = {(char *)"gdb", (char *)"-nx", (char *)"-batch", (char *)"-p",
		       NULL,          (char *)"-ex", (char *)"bt",     NULL};
	struct sampler_target targets[MAX_RANKS];
	size_t i, num, num_gdb = argc > 2 ? (size_t)atoi(argv[2]) : 3;
	struct launcher_info info;
	struct proctable *table;
	struct pdb_error err;

	unsetenv("DEBUGINFOD_URLS");
	if (argc < 2 || launcher_identify(atoi(argv[1]), &info, &err) ||
	    launcher_scan_procfs(&info, &table, &err)) {
		fprintf(stderr, "sample_bench: %s\n", argc < 2 ? "which pid?" : err.text);
		return 2;
	}
	num = table->num_procs < MAX_RANKS ? table->num_procs : MAX_RANKS;
	for (i = 0; i < num; i++)
		targets[i] = (struct sampler_target){table->procs[i].rank, table->procs[i].pid, 0};
	printf("%s, %zu ranks; microseconds\n", info.name, num);
	printf("%-28s %7s %12s %12s %12s\n", "", "samples", "stop median", "stop max",
	       "total each");
	if (bench_pdb(targets, num))
		return 1;
	bench_command("eu-stack -p", targets, num, eu_stack, 2);
	bench_command("gdb -batch -p -ex bt", targets, num_gdb < num ? num_gdb : num, gdb, 4);
	proctable_destroy(table);
	return 0;
}
