/* SPDX-License-Identifier: BSD-3-Clause */
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "attach/launchers/launcher.h"
#include "attach/process/procfs.h"
#include "model/arena.h"
#include "model/error.h"
#include "model/xalloc.h"
#include "render/draw/table.h"
#include "render/view.h"
#include "shell/joblist.h"

#define MAX_JOBS 1000

static int terminal_width(void)
{
	struct winsize window;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) < 0 || window.ws_col < 40)
		return 80;
	return window.ws_col;
}

/* The program is mostly what tells jobs apart, and it is far behind in the command: both its ends
 * are shown. */
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
	struct launcher_info *infos = xcalloc(MAX_JOBS, sizeof(*infos));
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
	free(infos);
	return result;
}
