/* SPDX-License-Identifier: BSD-3-Clause
 * Finding ranks without any help: every launcher puts the rank into the environment of the
 * processes that it starts, below itself on its own node, below what it has started there on
 * others. */
#include <errno.h>
#include <unistd.h>

#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/launchers/rankenv.h"
#include "attach/launchers/words.h"
#include "attach/process/procfs.h"
#include "model/job/rankset.h"
#include "model/segment/segment_reader.h"

#define MAX_DEPTH 32

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
	for (size_t i = 0; i < scan->num_list && depth < MAX_DEPTH; i++) {
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
		*XPUSH(scan->found, scan->num_found, scan->capacity) =
			(struct found){env, stat->pid, stat->start_ticks};
	}
}

/* The environment of a launcher that was itself started as somebody's rank (srun in a batch
 * script, mpirun in an xterm of mpirun) is that rank's and all its daemons inherit it. */
static void collect_below_launcher(struct scan *scan, pid_t launcher)
{
	struct rankenv own;
	size_t num = 0;

	collect(scan, launcher, 0);
	if (rankenv_read(launcher, &own) || own.rank < 0)
		return;
	for (size_t i = 0; i < scan->num_found; i++) {
		const struct rankenv child = scan->found[i].env;

		if (child.rank != own.rank || child.variable != own.variable ||
		    strcmp(child.job, own.job) != 0)
			scan->found[num++] = scan->found[i];
		else
			collect(scan, scan->found[i].pid, 0);
	}
	scan->num_found = num;
}

SORTED_BY(compare_age, struct found, start_ticks, pid)

/* Keep the oldest job, which spawned the others. A job without a name is told by its size, and a
 * second rank of the same number is of a later one. Returns how many processes are left out. */
static size_t keep_first_job(struct scan *scan)
{
	struct rankset *ranks = rankset_create();
	size_t num = 0, num_out;

	if (scan->num_found)
		qsort(scan->found, scan->num_found, sizeof(*scan->found), compare_age);
	for (size_t i = 0; i < scan->num_found; i++) {
		const struct rankenv *env = &scan->found[i].env, *first = &scan->found[0].env;

		if (strcmp(env->job, first->job) != 0 || env->size != first->size ||
		    rankset_contains(ranks, env->rank))
			continue;
		rankset_add(ranks, env->rank);
		scan->found[num++] = scan->found[i];
	}
	rankset_destroy(ranks);
	num_out = scan->num_found - num;
	scan->num_found = num;
	return num_out;
}

/* Ranks that only left their segments, by the first process that tells: some have no recorder. */
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
	for (int i = 0; i < num; i++)
		if (left[i].rank < size && !rankset_contains(found, left[i].rank))
			proctable_add_ended(table, left[i].rank, left[i].pid, host);
	free(left);
	rankset_destroy(found);
}

static int fill_table(struct scan *scan, struct proctable *table, struct pdb_error *err)
{
	char host[256] = "localhost";
	int size = 0;

	if (gethostname(host, sizeof(host) - 1) < 0 || !host_is_name(host))
		strcpy(host, "localhost");
	for (size_t i = 0; i < scan->num_found; i++) {
		const struct rankenv *env = &scan->found[i].env;
		pid_t pid = rankenv_process(scan->list, scan->num_list, scan->found[i].pid, env);
		char executable[4096];

		if (!procfs_executable(pid, executable, sizeof(executable)))
			executable[0] = '\0';
		proctable_add(table, env->rank, pid, host, executable);
		if (env->size > size)
			size = env->size;
	}
	if (table->num_procs < (size_t)size)
		add_ended(table, size, host);
	if (proctable_finish(table, err))
		return -1;
	proctable_claim(table, size);
	table->source = PROCTABLE_PROCFS;
	return 0;
}

/* Put what was found into the table, which is *ret then or freed, and free the scan. of: whose
 * ranks they are, for people. */
static int finish(struct scan *scan, const char *of, struct proctable *table,
		  struct proctable **ret, struct pdb_error *err)
{
	int result;

	if (scan->num_found)
		result = fill_table(scan, table, err);
	else if (scan->num_refused)
		result = error_set(err, ERROR_PERMISSION,
				   "%s has no ranks on this node that pdb may look into; run pdb "
				   "as their user or as root",
				   of);
	else
		result = error_set(err, ERROR_NOT_FOUND,
				   "%s has no ranks on this node: the job has not started yet, it "
				   "has ended, or it runs on other nodes",
				   of);
	if (result)
		proctable_destroy(table);
	else
		*ret = table;
	free(scan->list);
	free(scan->found);
	return result;
}

/* ---- Below the launcher ---- */

static char *make_note(const struct launcher_info *launcher, size_t num_others)
{
	const char *why = "this launcher keeps no table of its ranks; only this node's are found";

	if (launcher_kind_has_table(launcher->kind))
		why = "only this node's ranks are found";
	if (num_others)
		return xasprintf("%s; without those of jobs that it spawned (%zu)", why,
				 num_others);
	return xstrdup(why);
}

int launcher_scan_procfs(const struct launcher_info *launcher, struct proctable **ret,
			 struct pdb_error *err)
{
	struct proctable *table = proctable_create();
	struct scan scan = {0};
	char of[200];

	scan.list = procfs_list(&scan.num_list);
	collect_below_launcher(&scan, launcher->pid);
	table->source_note = make_note(launcher, keep_first_job(&scan));
	if (scan.num_found && scan.found[0].env.job[0])
		table->job = xstrdup(scan.found[0].env.job);
	else
		table->job = xasprintf("pid-%d", (int)launcher->pid);
	table->launcher_name = xstrdup(launcher->name);
	table->launcher_pid = launcher->pid;
	snprintf(of, sizeof(of), "%s (pid %d)", launcher->name, (int)launcher->pid);
	return finish(&scan, of, table, ret, err);
}

/* ---- Below what the launcher has started here ---- */

static bool has_mark(char *cmdline, size_t size, const char *mark)
{
	char **words = words_split(cmdline, size, false), *copy = xstrdup(mark), *save;
	const char *option = strtok_r(copy, " ", &save);
	bool has = option;

	for (; option && has; option = strtok_r(NULL, " ", &save)) {
		const char *value = strtok_r(NULL, " ", &save), *found = words_value(words, option);

		has = value && found && strcmp(found, value) == 0;
	}
	free(copy);
	free(words);
	return has;
}

static bool is_marked(pid_t pid, uid_t user, const char *mark)
{
	struct procfs_status status;
	size_t size;
	char *cmdline;

	if (procfs_status(pid, &status) || status.uid != user)
		return false;
	cmdline = procfs_read(pid, "cmdline", &size);
	bool is = cmdline && has_mark(cmdline, size, mark);
	free(cmdline);
	return is;
}

int launcher_scan_mark(const char *mark, uid_t user, struct proctable **ret, struct pdb_error *err)
{
	struct scan scan = {0};

	scan.list = procfs_list(&scan.num_list);
	for (size_t i = 0; i < scan.num_list; i++)
		if (is_marked(scan.list[i].pid, user, mark))
			collect(&scan, scan.list[i].pid, 0);
	keep_first_job(&scan);
	return finish(&scan, "the job", proctable_create(), ret, err);
}
