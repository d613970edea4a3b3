/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/start/find.h"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/process/procfs.h"
#include "model/job/proctable.h"
#include "pmix/tool.h"
#include "render/draw/table.h"
#include "render/view.h"

/* A live launcher answers in some 50 ms; one that is ending may never answer. */
#define PMIX_TIMEOUT_MS 5000

/* Ask the launcher in the best way for its kind. -1 and *err: there is none, or it failed. */
static int ask_first(const struct launcher_info *launcher, const char *nspace,
		     struct proctable **ret, struct pdb_error *err)
{
	if (launcher->kind->takes_pmix)
		return pmix_proctable(launcher->pid, nspace, PMIX_TIMEOUT_MS, ret, err);
	if (launcher->kind->has_mpir)
		return launcher_read_mpir(launcher, ret, err);
	return error_set(err, ERROR_UNSUPPORTED, "this launcher has no table of its ranks");
}

static void set_note(struct proctable *table, char *note)
{
	free(table->source_note);
	table->source_note = note;
}

/* Another user's table may contain any pids. A pid counts as a rank only if the process belongs to
 * the launcher's user. A pid without a process does not count: the next process with that pid may
 * be root's. */
static void forget_strangers(struct proctable *table, const struct launcher_info *launcher)
{
	struct procfs_status status;
	size_t num = 0;

	for (size_t i = 0; i < table->num_procs && launcher->user != geteuid(); i++) {
		struct proc *proc = &table->procs[i];

		if (!proc_is_here(proc) ||
		    (procfs_status(proc->pid, &status) == 0 && status.uid == launcher->user))
			continue;
		proc->pid = 0;
		num++;
	}
	if (num)
		set_note(table, xasprintf("%zu ranks have pids of other users' processes or of "
					  "none; pdb does not look at these",
					  num));
}

/* For the ranks of other hosts. */
static struct proctable *make_empty(const struct launcher_info *launcher)
{
	struct proctable *table = proctable_create();

	table->job = xasprintf("pid-%d", (int)launcher->pid);
	table->source = PROCTABLE_PROCFS;
	return table;
}

int find_job(pid_t pid, const char *nspace, struct launcher_info *launcher_ret,
	     struct launcher_hosts *hosts_ret, struct proctable **table_ret, struct pdb_error *err)
{
	struct launcher_hosts hosts;
	struct launcher_info launcher;
	struct pdb_error first, second;
	struct proctable *table;

	if (launcher_identify(pid, &launcher, err) < 0)
		return -1;
	launcher_find_hosts(&launcher, &hosts);
	if (ask_first(&launcher, nspace, &table, &first) == 0) {
		/* PMIx leaves a note only if there was a choice, an MPIR table only if it is
		 * odd. */
		if (!table->source_note)
			set_note(table, xstrdup(launcher.kind->why));
	} else if (launcher_scan_procfs(&launcher, &table, &second) == 0) {
		/* Say why the launcher's table was not used; if it has none, the scan's note is
		 * enough. */
		if (launcher_kind_has_table(launcher.kind))
			set_note(table, xasprintf("%s; %s", first.text, table->source_note));
	} else if (hosts.num > 0) {
		table = make_empty(&launcher);
	} else {
		/* The launcher's error is more useful than the scan's. */
		if (err)
			*err = first.code == ERROR_UNSUPPORTED ? second : first;
		return -1;
	}
	if (!table->launcher_name || !*table->launcher_name) {
		free(table->launcher_name);
		table->launcher_name = xstrdup(launcher.name);
	}
	table->launcher_pid = launcher.pid;
	forget_strangers(table, &launcher);
	*launcher_ret = launcher;
	*hosts_ret = hosts;
	*table_ret = table;
	return 0;
}

bool find_is_complete(const struct proctable *table, const struct launcher_hosts *hosts)
{
	return hosts->num > 0 || table->num_procs >= (size_t)table->size;
}

#define MAX_JOBS 1000

static int terminal_width(void)
{
	struct winsize window;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) < 0 || window.ws_col < 40)
		return 80;
	return window.ws_col;
}

/* The program distinguishes jobs but is late in the command line, so show both ends. */
static void print_jobs(const struct launcher_info *infos, size_t num, FILE *out)
{
	static const struct table_column columns[] = {
		{.name = "pid", .header = "pid", .align = TABLE_RIGHT},
		{.name = "user", .header = "user"},
		{.name = "launcher", .header = "launcher"},
		{.name = "command",
		 .header = "command",
		 .flags = TABLE_YIELDS | TABLE_CUT_MIDDLE,
		 .min_width = 10},
	};
	struct arena *arena = arena_create();
	const struct view view = {
		.out = out,
		.arena = arena,
		.width = terminal_width(),
		.use_unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
	};
	struct table *table = TABLE_OF(&view, columns);

	for (size_t i = 0; i < num; i++) {
		char user[64];

		procfs_user_name(infos[i].user, user, sizeof(user));
		table_row(table);
		table_cell(table, "%d", (int)infos[i].pid);
		table_cell(table, "%s", user);
		table_cell(table, "%s", infos[i].name);
		table_cell(table, "%s", infos[i].command);
	}
	table_print(table);
	arena_destroy(arena);
}

int joblist_choose(pid_t *pid_ret, FILE *out, struct pdb_error *err)
{
	struct launcher_info *infos SCOPED(free) = xcalloc(MAX_JOBS, sizeof(*infos));
	size_t num = launcher_list(infos, MAX_JOBS);
	int result = 0;

	if (num == 1 && infos[0].user == geteuid()) {
		*pid_ret = infos[0].pid;
	} else if (num == 0) {
		result = error_set(
			err, ERROR_NOT_FOUND,
			"you have no MPI job on this machine.\n"
			"Start one with \"pdb run -- mpirun ...\", or see \"pdb --help\".");
	} else {
		print_jobs(infos, num, out);
		result = num == 1 ? error_set(err, ERROR_USAGE,
					      "the only job here is another user's: choose it with "
					      "--pid %d",
					      (int)infos[0].pid)
				  : error_set(err, ERROR_USAGE,
					      "%zu jobs: choose one with --pid PID", num);
	}
	return result;
}
