/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding ranks without any help: every launcher puts the rank into the environment of the
 * processes that it starts, and they are its descendants on this node. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/launcher.h"
#include "attach/procfs.h"
#include "attach/rankenv.h"
#include "model/error.h"
#include "model/rankset.h"
#include "model/segment_reader.h"
#include "model/xalloc.h"

#define MAX_DEPTH 32
#define MAX_SIZE (1 << 24)

struct found {
	struct rankenv env;
	pid_t pid;
	uint64_t start_ticks;
};

struct scan {
	struct procfs_stat *list;
	size_t num_list;
	struct found *found;
	size_t num_found, capacity;
	size_t num_refused; /* processes that could not be looked into */
};

/* Collect the outermost processes that carry a rank, below `pid`. */
static void collect(struct scan *scan, pid_t pid, int depth)
{
	size_t i;

	for (i = 0; i < scan->num_list && depth < MAX_DEPTH; i++) {
		const struct procfs_stat *stat = &scan->list[i];
		struct rankenv env;

		if (stat->ppid != pid || stat->pid == pid || stat->is_ending ||
		    strncmp(stat->comm, PROCTABLE_DAEMON, strlen(PROCTABLE_DAEMON)) == 0)
			continue;
		if (rankenv_read(stat->pid, &env)) {
			scan->num_refused += errno == EACCES || errno == EPERM;
			continue;
		}
		if (env.rank < 0) {
			collect(scan, stat->pid, depth + 1);
			continue;
		}
		scan->found =
			xgrow(scan->found, scan->num_found, &scan->capacity, sizeof(*scan->found));
		scan->found[scan->num_found++] = (struct found){env, stat->pid, stat->start_ticks};
	}
}

/* The environment of a launcher that was itself started as somebody's rank (srun in a batch
 * script, mpirun in an xterm of mpirun) is that rank's and all its daemons inherit it. */
static void collect_below_launcher(struct scan *scan, pid_t launcher)
{
	struct rankenv own, child;
	size_t i, num = 0;

	collect(scan, launcher, 0);
	if (rankenv_read(launcher, &own) || own.rank < 0)
		return;
	for (i = 0; i < scan->num_found; i++) {
		child = scan->found[i].env;
		if (child.rank != own.rank || child.variable != own.variable ||
		    strcmp(child.job, own.job))
			scan->found[num++] = scan->found[i];
		else
			collect(scan, scan->found[i].pid, 0);
	}
	scan->num_found = num;
}

static int compare_age(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->start_ticks != y->start_ticks)
		return x->start_ticks < y->start_ticks ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Keep the oldest job: others were spawned by it. Not all launchers name jobs; then one is told by
 * its size, and a second rank of the same number is of a later job. Returns how many processes are
 * left out. */
static size_t keep_first_job(struct scan *scan)
{
	struct rankset *ranks = rankset_create();
	size_t i, num = 0;

	qsort(scan->found, scan->num_found, sizeof(*scan->found), compare_age);
	for (i = 0; i < scan->num_found; i++) {
		const struct rankenv *env = &scan->found[i].env, *first = &scan->found[0].env;

		if (strcmp(env->job, first->job) || env->size != first->size ||
		    rankset_contains(ranks, env->rank))
			continue;
		rankset_add(ranks, env->rank);
		scan->found[num++] = scan->found[i];
	}
	rankset_destroy(ranks);
	i = scan->num_found - num;
	scan->num_found = num;
	return i;
}

/* Ranks that have no process any more but left their segments. The others' word is taken in turn,
 * since some may run without a recorder. */
static void add_ended(struct proctable *table, int size, const char *host)
{
	struct rankset *found = rankset_create();
	struct segment_left *left = NULL;
	int num = -1;

	for (size_t i = 0; i < table->num_procs; i++) {
		rankset_add(found, table->procs[i].rank);
		if (num < 0)
			num = segment_find_left(table->procs[i].pid, &left, NULL);
	}
	for (int i = 0; i < num; i++) {
		if (left[i].rank < size && !rankset_contains(found, left[i].rank))
			proctable_add_ended(table, left[i].rank, left[i].pid, host);
	}
	free(left);
	rankset_destroy(found);
}

static char *make_note(const struct launcher_info *launcher, size_t num_others)
{
	const char *why = "this launcher keeps no table of its ranks; only this node's are found";

	if (launcher->kind == LAUNCHER_ORTE || launcher->kind == LAUNCHER_SRUN ||
	    launcher->kind == LAUNCHER_PRRTE)
		why = "only this node's ranks are found";
	if (num_others)
		return xasprintf("%s; without those of jobs that it spawned (%zu)", why,
				 num_others);
	return xstrdup(why);
}

static int fill_table(struct scan *scan, const struct launcher_info *launcher,
		      struct proctable *table, struct pdb_error *err)
{
	size_t i, num_others = keep_first_job(scan);
	char host[256] = "localhost";
	int size = 0;

	gethostname(host, sizeof(host) - 1);
	for (i = 0; i < scan->num_found; i++) {
		const struct rankenv *env = &scan->found[i].env;
		pid_t pid = rankenv_process(scan->list, scan->num_list, scan->found[i].pid, env);
		char executable[4096];

		if (!procfs_executable(pid, executable, sizeof(executable)))
			executable[0] = '\0';
		proctable_add(table, env->rank, pid, host, executable);
		if (env->size > size && env->size <= MAX_SIZE)
			size = env->size;
	}
	if (table->num_procs < (size_t)size)
		add_ended(table, size, host);
	if (proctable_finish(table, err))
		return -1;
	if (table->size < size)
		table->size = size;
	free(table->job);
	table->job = scan->found[0].env.job[0] ? xstrdup(scan->found[0].env.job)
					       : xasprintf("pid-%d", (int)launcher->pid);
	free(table->launcher_name);
	table->launcher_name = xstrdup(launcher->name);
	table->launcher_pid = launcher->pid;
	table->launcher = launcher->kind;
	table->source = PROCTABLE_PROCFS;
	free(table->source_note);
	table->source_note = make_note(launcher, num_others);
	return 0;
}

int launcher_scan_procfs(const struct launcher_info *launcher, struct proctable **ret,
			 struct pdb_error *err)
{
	struct scan scan = {0};
	struct proctable *table;
	int result;

	scan.list = procfs_list(&scan.num_list);
	collect_below_launcher(&scan, launcher->pid);
	if (!scan.num_found) {
		free(scan.list);
		free(scan.found);
		if (scan.num_refused)
			return error_set(err, ERROR_PERMISSION,
					 "%s (pid %d) has no ranks on this node that pdb may look "
					 "into; run pdb as their user or as root",
					 launcher->name, (int)launcher->pid);
		return error_set(err, ERROR_NOT_FOUND,
				 "%s (pid %d) has no ranks on this node: the job has not started "
				 "yet, it has ended, or it runs on other nodes",
				 launcher->name, (int)launcher->pid);
	}
	table = proctable_create();
	result = fill_table(&scan, launcher, table, err);
	if (result)
		proctable_destroy(table);
	else
		*ret = table;
	free(scan.list);
	free(scan.found);
	return result;
}
