/* SPDX-License-Identifier: BSD-3-Clause
 * Ask a launcher for its processes, for tests/pmix/check.sh. usage: pmix-ask [--hold] PID TIMEOUT_MS
 * [NAMESPACE] Prints "rank pid host executable" for each rank, after a line with the job's name;
 * or the error on stderr, and its code as exit status. With --hold all threads of the launcher
 * but the first stand still meanwhile, as in a server that hangs without being stopped. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "model/error.h"
#include "model/job/proctable.h"
#include "pmix/tool.h"

/* They go on when this program ends. */
static void hold_threads(pid_t pid)
{
	char path[64];
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		pid_t thread = atoi(entry->d_name);

		if (thread <= 0 || thread == pid)
			continue;
		if (ptrace(PTRACE_SEIZE, thread, 0, 0) != 0 ||
		    ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0 ||
		    waitpid(thread, NULL, __WALL) != thread) {
			perror("ask: cannot hold a thread");
			exit(99);
		}
	}
	if (tasks)
		closedir(tasks);
}

int main(int argc, char **argv)
{
	struct proctable *table;
	struct pdb_error err;
	int is_hold = argc > 1 && strcmp(argv[1], "--hold") == 0;

	argc -= is_hold;
	argv += is_hold;
	if (argc < 3)
		return 99;
	if (is_hold)
		hold_threads(atoi(argv[1]));
	if (pmix_proctable(atoi(argv[1]), argv[3], atoi(argv[2]), &table, &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		return err.code;
	}
	printf("%s\n", table->job);
	for (size_t i = 0; i < table->num_procs; i++)
		printf("%d %d %s %s\n", table->procs[i].rank, table->procs[i].pid,
		       table->procs[i].host, table->procs[i].executable);
	proctable_destroy(table);
	return 0;
}
