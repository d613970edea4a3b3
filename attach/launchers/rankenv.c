/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>

#include "attach/launchers/launcher_kind.h"
#include "attach/launchers/rankenv.h"
#include "attach/process/maps.h"
#include "attach/process/procfs.h"

/* The first of the names that is there with a whole number; -1 if none is. */
static int first_number(const char *variables, size_t size, const char *const *names,
			const char **name_ret)
{
	for (; names && *names; names++) {
		const char *text = procfs_getenv(variables, size, *names);
		char *end;

		if (!text || !*text)
			continue;
		errno = 0;
		long value = strtol(text, &end, 10);
		if (!errno && !*end && value >= 0 && value < INT_MAX) {
			*name_ret = *names;
			return (int)value;
		}
	}
	return -1;
}

/* False if a variable is not there. */
static bool name_job(const struct launcher_kind *kind, const char *variables, size_t size,
		     char *job, size_t job_size)
{
	const char *const *name = kind->job_variables;
	size_t length = (size_t)snprintf(job, job_size, "%s", kind->job_prefix);

	for (; *name; name++) {
		const char *text = procfs_getenv(variables, size, *name);

		if (!text)
			return false;
		if (length < job_size)
			length += (size_t)snprintf(job + length, job_size - length, "%s%s",
						   name > kind->job_variables ? "." : "", text);
	}
	return true;
}

/* Of the kinds whose ranks have their own numbers, or of the others. */
static void take_numbers(const char *variables, size_t size, bool doubtful, struct rankenv *ret)
{
	const char *ignored;

	for (size_t i = 0; launcher_kinds[i]; i++) {
		const struct launcher_kind *kind = launcher_kinds[i];

		if (kind->is_rank_doubtful != doubtful)
			continue;
		if (ret->rank < 0)
			ret->rank =
				first_number(variables, size, kind->rank_variables, &ret->variable);
		if (ret->size < 0)
			ret->size = first_number(variables, size, kind->size_variables, &ignored);
	}
}

void rankenv_parse(const char *variables, size_t size, struct rankenv *ret)
{
	bool has_job = false;

	*ret = (struct rankenv){.rank = -1, .size = -1};
	take_numbers(variables, size, false, ret);
	take_numbers(variables, size, true, ret);
	if (ret->size < 0)
		ret->size = 0;
	ret->is_whole = memchr(variables, '=', size) != NULL;
	for (size_t i = 0; launcher_kinds[i] && !has_job; i++)
		if (launcher_kinds[i]->job_variables)
			has_job = name_job(launcher_kinds[i], variables, size, ret->job,
					   sizeof(ret->job));
	if (!has_job)
		ret->job[0] = '\0';
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

bool rankenv_has_mpi(pid_t pid)
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
	pid_t found = 0;

	if (rankenv_has_mpi(pid))
		return pid;
	if (depth == MAX_WRAPPERS)
		return 0;
	for (size_t i = 0; i < num && !found; i++)
		if (list[i].ppid == pid && !rankenv_read(list[i].pid, &child) &&
		    child.rank == env->rank && !strcmp(child.job, env->job))
			found = find_below(list, num, list[i].pid, env, depth + 1);
	return found;
}

pid_t rankenv_process(const struct procfs_stat *list, size_t num, pid_t pid,
		      const struct rankenv *env)
{
	pid_t found = find_below(list, num, pid, env, 0);

	return found ? found : pid;
}
