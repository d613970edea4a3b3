/* SPDX-License-Identifier: BSD-3-Clause
 * A *launcher* is the process that a person starts (mpirun, srun, mpiexec) and that knows all
 * ranks; a
 * *daemon* is what it leaves on the nodes (orted, prted, hydra_pmi_proxy). */
#include <errno.h>
#include <unistd.h>

#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/launchers/rankenv.h"
#include "attach/process/maps.h"
#include "attach/process/procfs.h"
#include "model/clean_text.h"

#define MAX_DEPTH 32 /* of process trees that are followed up or down */

/* Executables may have any name, of another user's choice when root asks. */
static void finish_texts(struct launcher_info *info)
{
	clean_text(info->name, strlen(info->name));
	procfs_command(info->pid, info->command, sizeof(info->command));
	clean_text(info->command, strlen(info->command));
}

/* The processes of this machine at one moment. */
struct procs {
	struct procfs_stat *list;
	size_t num;
};

static const struct procfs_stat *find(const struct procs *all, pid_t pid)
{
	return procfs_find(all->list, all->num, pid);
}

/* One that has ended meanwhile has no start time. */
static void set_process(const struct procs *all, pid_t pid, struct launcher_info *info)
{
	const struct procfs_stat *stat = find(all, pid);
	struct procfs_status status;

	info->pid = pid;
	info->start_ticks = stat && procfs_status(pid, &status) == 0 ? stat->start_ticks : 0;
	info->user = info->start_ticks ? status.owner : (uid_t)-1;
}

/* Fill *info if the process is a launcher. -1 with errno set if it cannot be looked into. */
static int look_at(const struct procs *all, pid_t pid, struct launcher_info *info)
{
	struct maps *maps = maps_read(pid);
	char path[4096] = "";
	struct launcher_look look = {
		.pid = pid, .maps = maps, .list = all->list, .num_list = all->num};

	info->kind = NULL;
	if (!maps)
		return -1;
	if (!procfs_executable(pid, path, sizeof(path))) {
		maps_destroy(maps);
		return -1;
	}
	look.base = maps_base(path);
	set_process(all, pid, info);
	if (!maps_has_mpi(maps))
		info->kind = launcher_kind_of(&look);
	if (info->kind) {
		snprintf(info->name, sizeof(info->name), "%s", info->kind->name);
		if (info->kind->describe)
			info->kind->describe(&look, info->name, sizeof(info->name));
		finish_texts(info);
	}
	maps_destroy(maps);
	return 0;
}

static bool is_launcher(const struct procs *all, pid_t pid, struct launcher_info *info)
{
	return look_at(all, pid, info) == 0 && info->kind;
}

static void prefer_parent(const struct procs *all, struct launcher_info *info)
{
	const struct procfs_stat *stat = find(all, info->pid);
	struct launcher_info parent;

	if (info->kind->forks && stat && is_launcher(all, stat->ppid, &parent) &&
	    parent.kind == info->kind)
		*info = parent;
}

/* The nearest launcher among the ancestors. */
static bool climb(const struct procs *all, pid_t pid, struct launcher_info *info)
{
	const struct procfs_stat *stat = find(all, pid);

	for (int depth = 0; stat && stat->ppid > 1 && depth < MAX_DEPTH; depth++) {
		if (is_launcher(all, stat->ppid, info))
			return true;
		stat = find(all, stat->ppid);
	}
	return false;
}

/* The launchers below, not looking below a launcher. Returns how many; the first two are kept. */
static int descend(const struct procs *all, pid_t pid, int depth, struct launcher_info found[2],
		   int num_found)
{
	struct launcher_info info;

	for (size_t i = 0; i < all->num && depth < MAX_DEPTH; i++) {
		if (all->list[i].ppid != pid || all->list[i].pid == pid)
			continue;
		if (is_launcher(all, all->list[i].pid, &info)) {
			if (num_found < 2)
				found[num_found] = info;
			num_found++;
		} else {
			num_found = descend(all, all->list[i].pid, depth + 1, found, num_found);
		}
	}
	return num_found;
}

/* The unknown launcher: the parent of the outermost process that carries the rank's environment. */
static pid_t parent_of_rank(const struct procs *all, pid_t pid)
{
	const struct procfs_stat *stat = find(all, pid);
	struct rankenv env;

	for (int depth = 0; stat && depth < MAX_DEPTH; depth++) {
		if (stat->ppid <= 1 || rankenv_read(stat->ppid, &env) || env.rank < 0)
			break;
		stat = find(all, stat->ppid);
	}
	return stat && stat->ppid > 1 ? stat->ppid : pid;
}

/* Is it the process itself or one of those below it? */
static bool is_below(const struct procs *all, pid_t pid, pid_t top)
{
	for (int depth = 0; pid > 0 && pid != top && depth < MAX_DEPTH; depth++) {
		const struct procfs_stat *stat = find(all, pid);

		pid = stat ? stat->ppid : 0;
	}
	return pid == top;
}

static bool has_rank_below(const struct procs *all, pid_t pid)
{
	struct rankenv env;

	for (size_t i = 0; i < all->num; i++)
		if (all->list[i].pid != pid && is_below(all, all->list[i].pid, pid) &&
		    rankenv_read(all->list[i].pid, &env) == 0 && env.rank >= 0 &&
		    rankenv_has_mpi(all->list[i].pid))
			return true;
	return false;
}

static bool table_has(const struct procs *all, const struct launcher_info *info, pid_t pid)
{
	struct proctable *table;
	bool has = false;

	if (!info->kind->has_mpir || launcher_read_mpir(info, &table, NULL))
		return false;
	for (size_t i = 0; i < table->num_procs && !has; i++) {
		const struct proc *proc = &table->procs[i];

		has = proc->is_local && proc->pid > 0 &&
		      (is_below(all, proc->pid, pid) || is_below(all, pid, proc->pid));
	}
	proctable_destroy(table);
	return has;
}

static bool is_apart(const char *comm)
{
	for (size_t i = 0; launcher_kinds[i]; i++)
		if (launcher_kinds[i]->apart && strcmp(launcher_kinds[i]->apart, comm) == 0)
			return true;
	return false;
}

/* A launcher whose ranks are no descendants of it may run on this node, as it does in a batch
 * script: the one that has the process, or a rank below it, in its table. */
static bool find_apart(const struct procs *all, pid_t pid, struct launcher_info *info)
{
	for (size_t i = 0; i < all->num; i++)
		if (is_apart(all->list[i].comm) && procfs_same_user(all->list[i].pid, pid) &&
		    is_launcher(all, all->list[i].pid, info) && info->kind->apart &&
		    table_has(all, info, pid))
			return true;
	return false;
}

static void fill_other(const struct procs *all, pid_t pid, struct launcher_info *info)
{
	char path[512] = "?";

	procfs_executable(pid, path, sizeof(path));
	info->kind = &launcher_other;
	set_process(all, pid, info);
	snprintf(info->name, sizeof(info->name), "%.100s", maps_base(path));
	finish_texts(info);
}

/* A process that is no launcher: go from it to one. */
static int follow(const struct procs *all, const struct procfs_stat *stat,
		  struct launcher_info *info, struct pdb_error *err)
{
	struct launcher_info found[2];
	struct rankenv env;
	bool is_rank = !rankenv_read(stat->pid, &env) && env.rank >= 0;

	if (is_rank && climb(all, stat->pid, info))
		return 0;
	int num_found = descend(all, stat->pid, 0, found, 0);
	/* The second half of one that forks is a child of the first, and not found here. */
	if (num_found > 1)
		return error_set(err, ERROR_USAGE,
				 "process %d (%s) runs several jobs: %d (%s), %d (%s)%s; name one",
				 (int)stat->pid, stat->comm, (int)found[0].pid, found[0].name,
				 (int)found[1].pid, found[1].name, num_found > 2 ? ", ..." : "");
	if (num_found == 1) {
		*info = found[0];
		return 0;
	}
	if (find_apart(all, stat->pid, info))
		return 0;
	if (is_rank || has_rank_below(all, stat->pid)) {
		fill_other(all, is_rank ? parent_of_rank(all, stat->pid) : stat->pid, info);
		return 0;
	}
	/* A daemon, or something else that a launcher has started. */
	if (climb(all, stat->pid, info))
		return 0;
	return error_set(
		err, ERROR_UNSUPPORTED,
		"process %d (%s) is no MPI launcher and has no MPI ranks below it; give the "
		"pid of mpirun, prterun, srun or mpiexec, or of one of the ranks",
		(int)stat->pid, stat->comm);
}

int launcher_identify(pid_t pid, struct launcher_info *ret, struct pdb_error *err)
{
	struct procfs_status status;
	struct launcher_info info = {0};
	struct procs all;
	int result = 0;

	if (pid <= 0)
		return error_set(err, ERROR_GONE, "no process %d on this machine", (int)pid);
	if (procfs_status(pid, &status))
		return errno == ENOENT || errno == ESRCH
			       ? error_set(err, ERROR_GONE, "no process %d on this machine",
					   (int)pid)
			       : error_errno(err, "/proc/%d", (int)pid);
	pid = status.tgid;
	errno = 0;
	all.list = procfs_list(&all.num);
	const struct procfs_stat *stat = find(&all, pid);
	if (!stat && errno != 0 && errno != ENOENT && errno != ESRCH) {
		result = error_errno(err, "/proc");
	} else if (!stat) {
		result = error_set(err, ERROR_GONE, "process %d has just ended", (int)pid);
	} else if (stat->is_ending) {
		result = error_set(err, ERROR_GONE, "process %d (%s) has ended", (int)pid,
				   stat->comm);
	} else if (look_at(&all, pid, &info)) {
		result =
			procfs_explain(pid, errno == ENOENT ? ESRCH : errno, "be looked into", err);
	} else if (!info.kind) {
		result = follow(&all, stat, &info, err);
	}
	if (!result) {
		prefer_parent(&all, &info);
		*ret = info;
	}
	free(all.list);
	return result;
}

/* Are both in the same namespace of this kind? Not if that cannot be seen. */
static bool shares_namespace(pid_t pid, const char *kind)
{
	char theirs[64] = "", ours[64] = "", path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
	if (readlink(path, theirs, sizeof(theirs) - 1) <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	return readlink(path, ours, sizeof(ours) - 1) > 0 && strcmp(theirs, ours) == 0;
}

int launcher_check_own(const struct launcher_info *launcher, struct pdb_error *err)
{
	struct procfs_status status;
	struct procfs_stat stat;
	char user[64];

	if (procfs_stat(launcher->pid, 0, &stat) < 0 || stat.start_ticks != launcher->start_ticks ||
	    procfs_status(launcher->pid, &status) < 0)
		return error_set(err, ERROR_GONE, "the launcher, pid %d, has ended",
				 (int)launcher->pid);
	if (status.owner != geteuid()) {
		procfs_user_name(status.owner, user, sizeof(user));
		return error_set(err, ERROR_PERMISSION,
				 "the job belongs to %s, and pdb starts nothing that another user "
				 "chooses; run pdb as %s",
				 user, user);
	}
	if (!shares_namespace(launcher->pid, "user") || !shares_namespace(launcher->pid, "pid"))
		return error_set(err, ERROR_PERMISSION,
				 "the launcher, pid %d, runs in a container of its own, and pdb "
				 "starts nothing for it outside; run pdb in that container",
				 (int)launcher->pid);
	return 0;
}

static char *list_srun_hosts(pid_t pid)
{
	const struct launcher_info srun = {.kind = &launcher_slurm, .pid = pid, .name = "srun"};
	struct proctable *table;
	char *hosts = NULL;
	size_t size;

	if (launcher_read_mpir(&srun, &table, NULL))
		return NULL;
	FILE *out = open_memstream(&hosts, &size);
	for (size_t i = 0; i < table->num_procs; i++)
		fprintf(out, "%s%s", i > 0 ? "," : "", table->procs[i].host);
	fclose(out);
	proctable_destroy(table);
	return hosts;
}

void launcher_find_hosts(const struct launcher_info *launcher, struct launcher_hosts *ret)
{
	*ret = (struct launcher_hosts){.names = NULL};
	if (launcher->kind->find_hosts) {
		launcher->kind->find_hosts(launcher->pid, list_srun_hosts, ret);
		ret->user = launcher->user;
	}
}

size_t launcher_list(struct launcher_info *infos, size_t max)
{
	struct procfs_status status;
	struct launcher_info info;
	struct procs all;
	size_t k, found = 0;

	all.list = procfs_list(&all.num);
	for (size_t i = 0; i < all.num && found < max; i++) {
		pid_t pid = all.list[i].pid;

		if (geteuid() != 0 && (procfs_status(pid, &status) || status.uid != geteuid()))
			continue;
		if (!is_launcher(&all, pid, &info))
			continue;
		prefer_parent(&all, &info);
		for (k = 0; k < found && infos[k].pid != info.pid; k++)
			;
		if (k == found)
			infos[found++] = info;
	}
	free(all.list);
	return found;
}
