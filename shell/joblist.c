/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "attach/launcher.h"
#include "model/error.h"
#include "model/xalloc.h"
#include "shell/joblist.h"

#define MAX_JOBS 1000

static void print_jobs(const struct launcher_info *infos, size_t num, FILE *out)
{
	fprintf(out, "  %7s  %-26s  %s\n", "pid", "launcher", "command");
	for (size_t i = 0; i < num; i++)
		fprintf(out, "  %7d  %-26.26s  %.45s\n", (int)infos[i].pid, infos[i].name,
			infos[i].command);
}

int joblist_choose(pid_t *pid_ret, FILE *out, struct pdb_error *err)
{
	struct launcher_info *infos = xcalloc(MAX_JOBS, sizeof(*infos));
	size_t num = launcher_list(infos, MAX_JOBS);
	int result = 0;

	if (num == 1) {
		*pid_ret = infos[0].pid;
	} else if (num == 0) {
		result = error_set(
			err, ERROR_NOT_FOUND,
			"you have no MPI job on this machine.\n"
			"Start one with \"pdb run -- mpirun ...\", or see \"pdb --help\".");
	} else {
		print_jobs(infos, num, out);
		result = error_set(err, ERROR_USAGE, "%zu jobs: choose one with --pid", num);
	}
	free(infos);
	return result;
}
