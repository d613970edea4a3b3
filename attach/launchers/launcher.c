/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Words used here: a *launcher* is the process that a person starts (mpirun, srun, mpiexec) and
 * that knows all ranks; a *daemon* is what it leaves on the nodes (orted, prted, hydra_pmi_proxy).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/launchers/hydra.h"
#include "attach/launchers/launcher.h"
#include "attach/process/elf_symbol.h"
#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/process/procfs.h"
#include "attach/process/rankenv.h"
#include "model/error.h"

#define MAX_DEPTH 32 /* of process trees that are followed up or down */

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* The version that a library of the launcher carries as a string, "" if it cannot be read. */
static void read_version(pid_t pid, const struct maps *maps, const char *library,
			 const char *symbol, char *buffer, size_t size)
{
	const struct maps_object *object = maps_find_object(maps, library);
	uint64_t address;

	buffer[0] = '\0';
	if (!object || elf_symbol_find(pid, object, symbol, &address, NULL))
		return;
	if (memory_read_string(pid, address, buffer, size) < 0)
		buffer[0] = '\0';
	/* Untrusted and shown to people: digits and what versions have between them. */
	buffer[strspn(buffer, "0123456789.abcdefghijklmnopqrstuvwxyz-")] = '\0';
}

/* Open MPI's mpirun becomes PRRTE's prterun, and leaves it word of who it was. */
static bool is_open_mpi(pid_t pid, char *version, size_t size)
{
	size_t variables_size;
	char *variables = procfs_read(pid, "environ", &variables_size);
	const char *text =
		variables ? procfs_getenv(variables, variables_size, "OMPI_VERSION") : NULL;

	if (text)
		snprintf(version, size, "%.*s", (int)strspn(text, "0123456789.abcr"), text);
	free(variables);
	return text != NULL;
}

static void name_launcher(struct launcher_info *info, const struct maps *maps, const char *base)
{
	char version[32];

	switch (info->kind) {
	case LAUNCHER_ORTE:
		read_version(info->pid, maps, "libopen-rte.so", "orte_version_string", version,
			     sizeof(version));
		snprintf(info->name, sizeof(info->name), "Open MPI %s mpirun",
			 version[0] ? version : "4");
		break;
	case LAUNCHER_PRRTE:
		if (is_open_mpi(info->pid, version, sizeof(version))) {
			snprintf(info->name, sizeof(info->name), "Open MPI %s mpirun", version);
			break;
		}
		read_version(info->pid, maps, "libprrte.so", "prte_version_string", version,
			     sizeof(version));
		snprintf(info->name, sizeof(info->name), "PRRTE %s%s%.64s", version,
			 version[0] ? " " : "", base);
		break;
	case LAUNCHER_SRUN:
		snprintf(info->name, sizeof(info->name), "Slurm srun");
		break;
	case LAUNCHER_HYDRA:
		snprintf(info->name, sizeof(info->name), "MPICH mpiexec (hydra)");
		break;
	default:
		snprintf(info->name, sizeof(info->name), "%.100s", base);
		break;
	}
}

/* One that runs the proxies of other hosts counts: there may be none on this one. A child of
 * another user does not: whose parent has ended is a child of process 1. */
static bool has_hydra_proxy(const struct procfs_stat *list, size_t num, pid_t pid)
{
	struct hydra_proxy proxy;
	char path[512], *cmdline;
	size_t size;
	bool has = false;

	for (size_t i = 0; i < num && !has; i++) {
		if (list[i].ppid != pid || !procfs_same_user(list[i].pid, pid))
			continue;
		has = procfs_executable(list[i].pid, path, sizeof(path)) &&
		      (begins_with(maps_base(path), "hydra_pmi_proxy") ||
		       begins_with(maps_base(path), "hydra_bstrap_proxy"));
		cmdline = has ? NULL : procfs_read(list[i].pid, "cmdline", &size);
		if (cmdline && hydra_parse(cmdline, size, &proxy)) {
			hydra_proxy_deinit(&proxy);
			has = true;
		}
		free(cmdline);
	}
	return has;
}

/* What a process is, by what it has mapped; names of executables only tell a launcher from the
 * daemon that has the same libraries. Ranks map libopen-rte too, but with libmpi beside it. */
static enum launcher classify(const struct procfs_stat *list, size_t num, pid_t pid,
			      const struct maps *maps, const char *base)
{
	if (maps_has_mpi(maps))
		return LAUNCHER_UNKNOWN;
	if (maps_find_object(maps, "libprrte.so"))
		return !strcmp(base, "prted") ? LAUNCHER_UNKNOWN : LAUNCHER_PRRTE;
	if (maps_find_object(maps, "libopen-rte.so"))
		return !strcmp(base, "orted") ? LAUNCHER_UNKNOWN : LAUNCHER_ORTE;
	if (!strcmp(base, "srun") && maps_find_object(maps, "libslurm"))
		return LAUNCHER_SRUN;
	if (has_hydra_proxy(list, num, pid))
		return LAUNCHER_HYDRA;
	return LAUNCHER_UNKNOWN;
}

/* Executables may have any name, of another user's choice when root asks; a terminal is not to take
 * it for commands. */
static void clean_text(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
	}
}

/* One that has ended meanwhile has no start time. */
static void set_process(const struct procfs_stat *list, size_t num, pid_t pid,
			struct launcher_info *info)
{
	const struct procfs_stat *stat = procfs_find(list, num, pid);
	struct procfs_status status;

	info->pid = pid;
	info->start_ticks = stat && procfs_status(pid, &status) == 0 ? stat->start_ticks : 0;
	info->user = info->start_ticks ? status.owner : (uid_t)-1;
}

/* Fill *info if the process is a launcher. -1 with errno set if it cannot be looked into. */
static int look_at(const struct procfs_stat *list, size_t num, pid_t pid,
		   struct launcher_info *info)
{
	struct maps *maps = maps_read(pid);
	char path[4096] = "";
	const char *base;

	info->kind = LAUNCHER_UNKNOWN;
	if (!maps)
		return -1;
	if (!procfs_executable(pid, path, sizeof(path))) {
		maps_destroy(maps);
		return -1;
	}
	base = maps_base(path);
	set_process(list, num, pid, info);
	info->kind = classify(list, num, pid, maps, base);
	if (info->kind != LAUNCHER_UNKNOWN) {
		name_launcher(info, maps, base);
		clean_text(info->name);
		procfs_command(pid, info->command, sizeof(info->command));
		clean_text(info->command);
	}
	maps_destroy(maps);
	return 0;
}

/* srun forks a copy of itself to watch it; the table is in the parent. */
static void prefer_srun_parent(const struct procfs_stat *list, size_t num,
			       struct launcher_info *info)
{
	const struct procfs_stat *stat = procfs_find(list, num, info->pid);
	struct launcher_info parent;

	if (info->kind == LAUNCHER_SRUN && stat && !look_at(list, num, stat->ppid, &parent) &&
	    parent.kind == LAUNCHER_SRUN)
		*info = parent;
}

/* The nearest launcher among the ancestors. */
static bool climb(const struct procfs_stat *list, size_t num, pid_t pid, struct launcher_info *info)
{
	const struct procfs_stat *stat = procfs_find(list, num, pid);
	int depth;

	for (depth = 0; stat && stat->ppid > 1 && depth < MAX_DEPTH; depth++) {
		if (!look_at(list, num, stat->ppid, info) && info->kind != LAUNCHER_UNKNOWN)
			return true;
		stat = procfs_find(list, num, stat->ppid);
	}
	return false;
}

/* The launchers below, not looking below a launcher. Returns how many; the first two are kept. */
static int descend(const struct procfs_stat *list, size_t num, pid_t pid, int depth,
		   struct launcher_info found[2], int num_found)
{
	struct launcher_info info;
	size_t i;

	for (i = 0; i < num && depth < MAX_DEPTH; i++) {
		if (list[i].ppid != pid || list[i].pid == pid)
			continue;
		if (!look_at(list, num, list[i].pid, &info) && info.kind != LAUNCHER_UNKNOWN) {
			if (num_found < 2)
				found[num_found] = info;
			num_found++;
		} else {
			num_found = descend(list, num, list[i].pid, depth + 1, found, num_found);
		}
	}
	return num_found;
}

/* The outermost process of those that carry the rank's environment has the unknown launcher as its
 * parent. */
static pid_t parent_of_rank(const struct procfs_stat *list, size_t num, pid_t pid)
{
	const struct procfs_stat *stat = procfs_find(list, num, pid);
	struct rankenv env;
	int depth;

	for (depth = 0; stat && depth < MAX_DEPTH; depth++) {
		if (stat->ppid <= 1 || rankenv_read(stat->ppid, &env) || env.rank < 0)
			break;
		stat = procfs_find(list, num, stat->ppid);
	}
	return stat && stat->ppid > 1 ? stat->ppid : pid;
}

static bool has_rank_below(const struct procfs_stat *list, size_t num, pid_t pid, int depth)
{
	struct rankenv env;
	size_t i;

	for (i = 0; i < num && depth < MAX_DEPTH; i++) {
		struct maps *maps;
		bool is_rank = false;

		if (list[i].ppid != pid || list[i].pid == pid)
			continue;
		if (!rankenv_read(list[i].pid, &env) && env.rank >= 0) {
			maps = maps_read(list[i].pid);
			is_rank = maps && maps_has_mpi(maps);
			maps_destroy(maps);
		}
		if (is_rank || has_rank_below(list, num, list[i].pid, depth + 1))
			return true;
	}
	return false;
}

/* Is it the process itself or one of those below it? */
static bool is_below(const struct procfs_stat *list, size_t num, pid_t pid, pid_t top)
{
	const struct procfs_stat *stat;
	int depth;

	for (depth = 0; pid > 0 && pid != top && depth < MAX_DEPTH; depth++) {
		stat = procfs_find(list, num, pid);
		pid = stat ? stat->ppid : 0;
	}
	return pid == top;
}

static bool srun_has_rank(const struct procfs_stat *list, size_t num,
			  const struct launcher_info *info, pid_t pid)
{
	struct proctable *table;
	bool has = false;
	size_t i;

	if (launcher_read_mpir(info, &table, NULL))
		return false;
	for (i = 0; i < table->num_procs && !has; i++) {
		const struct proc *proc = &table->procs[i];

		has = proc->is_local && proc->pid > 0 &&
		      (is_below(list, num, proc->pid, pid) || is_below(list, num, pid, proc->pid));
	}
	proctable_destroy(table);
	return has;
}

/* Slurm's ranks are no descendants of their srun, but it may run on this node, as it does in a
 * batch script: the one that has the process, or a rank below it, in its table. */
static bool find_srun(const struct procfs_stat *list, size_t num, pid_t pid,
		      struct launcher_info *info)
{
	size_t i;

	for (i = 0; i < num; i++) {
		if (!strcmp(list[i].comm, "srun") && procfs_same_user(list[i].pid, pid) &&
		    !look_at(list, num, list[i].pid, info) && info->kind == LAUNCHER_SRUN &&
		    srun_has_rank(list, num, info, pid))
			return true;
	}
	return false;
}

static void fill_other(const struct procfs_stat *list, size_t num, pid_t pid,
		       struct launcher_info *info)
{
	char path[512] = "?";

	procfs_executable(pid, path, sizeof(path));
	info->kind = LAUNCHER_OTHER;
	set_process(list, num, pid, info);
	snprintf(info->name, sizeof(info->name), "%.100s", maps_base(path));
	clean_text(info->name);
	procfs_command(pid, info->command, sizeof(info->command));
	clean_text(info->command);
}

/* A process that is no launcher: go from it to one. */
static int follow(const struct procfs_stat *list, size_t num, const struct procfs_stat *stat,
		  struct launcher_info *info, struct pdb_error *err)
{
	struct launcher_info found[2];
	struct rankenv env;
	bool is_rank = !rankenv_read(stat->pid, &env) && env.rank >= 0;
	int num_found;

	if (is_rank && climb(list, num, stat->pid, info))
		return 0;
	num_found = descend(list, num, stat->pid, 0, found, 0);
	/* srun's second half is a child of the first and never found here, being below it. */
	if (num_found > 1)
		return error_set(err, ERROR_USAGE,
				 "process %d (%s) runs several jobs: %d (%s), %d (%s)%s; name one",
				 (int)stat->pid, stat->comm, (int)found[0].pid, found[0].name,
				 (int)found[1].pid, found[1].name, num_found > 2 ? ", ..." : "");
	if (num_found == 1) {
		*info = found[0];
		return 0;
	}
	if (find_srun(list, num, stat->pid, info))
		return 0;
	if (is_rank) {
		fill_other(list, num, parent_of_rank(list, num, stat->pid), info);
		return 0;
	}
	if (has_rank_below(list, num, stat->pid, 0)) {
		fill_other(list, num, stat->pid, info);
		return 0;
	}
	/* A daemon, or something else that a launcher has started. */
	if (climb(list, num, stat->pid, info))
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
	const struct procfs_stat *stat;
	struct procfs_stat *list;
	size_t num;
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
	list = procfs_list(&num);
	stat = procfs_find(list, num, pid);
	if (!stat && errno != 0 && errno != ENOENT && errno != ESRCH) {
		result = error_errno(err, "/proc");
	} else if (!stat) {
		result = error_set(err, ERROR_GONE, "process %d has just ended", (int)pid);
	} else if (stat->is_ending) {
		result = error_set(err, ERROR_GONE, "process %d (%s) has ended", (int)pid,
				   stat->comm);
	} else if (look_at(list, num, pid, &info)) {
		result =
			procfs_explain(pid, errno == ENOENT ? ESRCH : errno, "be looked into", err);
	} else if (info.kind == LAUNCHER_UNKNOWN) {
		result = follow(list, num, stat, &info, err);
	}
	if (!result) {
		prefer_srun_parent(list, num, &info);
		*ret = info;
	}
	free(list);
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
				 "starts nothing outside as it says; run pdb in there",
				 (int)launcher->pid);
	return 0;
}

void launcher_find_hosts(const struct launcher_info *launcher, struct launcher_hosts *ret)
{
	*ret = (struct launcher_hosts){.names = NULL};
	if (launcher->kind == LAUNCHER_HYDRA) {
		hydra_find_hosts(launcher->pid, ret);
		ret->user = launcher->user;
	}
}

void launcher_hosts_deinit(struct launcher_hosts *hosts)
{
	for (size_t i = 0; i < hosts->num; i++)
		free(hosts->names[i]);
	free(hosts->names);
	free(hosts->launcher);
	free(hosts->mark);
	*hosts = (struct launcher_hosts){.names = NULL};
}

size_t launcher_list(struct launcher_info *infos, size_t max)
{
	struct procfs_status status;
	struct procfs_stat *list;
	struct launcher_info info;
	size_t num, i, k, found = 0;

	list = procfs_list(&num);
	for (i = 0; i < num && found < max; i++) {
		if (geteuid() != 0 &&
		    (procfs_status(list[i].pid, &status) || status.uid != geteuid()))
			continue;
		if (look_at(list, num, list[i].pid, &info) || info.kind == LAUNCHER_UNKNOWN)
			continue;
		prefer_srun_parent(list, num, &info);
		for (k = 0; k < found && infos[k].pid != info.pid; k++)
			;
		if (k == found)
			infos[found++] = info;
	}
	free(list);
	return found;
}
