/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/process/maps.h"
#include "attach/process/procfs.h"
#include "attach/process/rankenv.h"

/* SLURM_PROCID comes late, since a batch script has it too and hands it to every mpirun in there;
 * MPI_LOCALRANKID last, since it counts on one node only. */
static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK",
					 "MV2_COMM_WORLD_RANK",  "SLURM_PROCID", "MPI_LOCALRANKID"};
static const char *const size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
					 "SLURM_NTASKS"};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The first of the names that is there with a whole number; -1 if none is. */
static int first_number(const char *variables, size_t size, const char *const *names, size_t num,
			const char **name_ret)
{
	size_t i;

	*name_ret = NULL;
	for (i = 0; i < num; i++) {
		const char *text = procfs_getenv(variables, size, names[i]);
		char *end;
		long value;

		if (!text || !*text)
			continue;
		errno = 0;
		value = strtol(text, &end, 10);
		if (!errno && !*end && value >= 0 && value < INT_MAX) {
			*name_ret = names[i];
			return (int)value;
		}
	}
	return -1;
}

void rankenv_parse(const char *variables, size_t size, struct rankenv *ret)
{
	const char *nspace = procfs_getenv(variables, size, "PMIX_NAMESPACE");
	const char *job = procfs_getenv(variables, size, "SLURM_JOB_ID");
	const char *step = procfs_getenv(variables, size, "SLURM_STEP_ID");
	const char *size_variable;
	int number;

	ret->rank = first_number(variables, size, rank_names, LENGTH(rank_names), &ret->variable);
	number = first_number(variables, size, size_names, LENGTH(size_names), &size_variable);
	ret->size = number < 0 ? 0 : number;
	ret->is_whole = memchr(variables, '=', size) != NULL;
	ret->job[0] = '\0';
	if (nspace)
		snprintf(ret->job, sizeof(ret->job), "%s", nspace);
	else if (job && step)
		snprintf(ret->job, sizeof(ret->job), "slurm-%s.%s", job, step);
}

int rankenv_read(pid_t pid, struct rankenv *ret)
{
	size_t size;
	char *text = procfs_read(pid, "environ", &size);

	if (!text)
		return -1;
	rankenv_parse(text, size, ret);
	free(text);
	return 0;
}

static bool has_mpi(pid_t pid)
{
	struct maps *maps = maps_read(pid);
	bool has = maps && maps_has_mpi(maps);

	maps_destroy(maps);
	return has;
}

#define MAX_WRAPPERS 16

static pid_t find_below(const struct procfs_stat *list, size_t num, pid_t pid,
			const struct rankenv *env, int depth)
{
	struct rankenv child;
	size_t i;
	pid_t found = 0;

	if (has_mpi(pid))
		return pid;
	if (depth == MAX_WRAPPERS)
		return 0;
	for (i = 0; i < num && !found; i++) {
		if (list[i].ppid == pid && !rankenv_read(list[i].pid, &child) &&
		    child.rank == env->rank && !strcmp(child.job, env->job))
			found = find_below(list, num, list[i].pid, env, depth + 1);
	}
	return found;
}

pid_t rankenv_process(const struct procfs_stat *list, size_t num, pid_t pid,
		      const struct rankenv *env)
{
	pid_t found = find_below(list, num, pid, env, 0);

	return found ? found : pid;
}
