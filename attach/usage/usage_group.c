/* SPDX-License-Identifier: BSD-3-Clause
 * Quotas of processor time, of version 1 and 2 of control groups. In a container the names of
 * groups may not be those of folders here; then none is found. */

#include "attach/process/procfs.h"
#include "attach/usage/usage_private.h"
#include "attach/usage/usage_text.h"

enum { MAX_PATH = 4096, MAX_DEPTH = 32 };

/* Where systems mount them. */
static const struct hierarchy {
	const char *root;
	bool is_v1;
} hierarchies[] = {
	{"/sys/fs/cgroup", false},
	{"/sys/fs/cgroup/unified", false},
	{"/sys/fs/cgroup/cpu", true},
	{"/sys/fs/cgroup/cpu,cpuacct", true},
};

static char *read_file(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);
	char *text = procfs_read_path(path, NULL);

	free(path);
	return text;
}

static uint64_t read_percent(const char *folder)
{
	char *max = read_file(folder, "cpu.max"), *quota, *period;
	uint64_t percent = max ? usage_text_cpu_max(max) : 0;

	if (!max) {
		quota = read_file(folder, "cpu.cfs_quota_us");
		period = read_file(folder, "cpu.cfs_period_us");
		if (quota && period && *quota != '-' && strtoull(period, NULL, 10) > 0)
			percent = strtoull(quota, NULL, 10) * 100 / strtoull(period, NULL, 10);
		free(quota);
		free(period);
	}
	free(max);
	return percent;
}

void usage_group_read(struct usage_group *group)
{
	char *text = group->folder ? read_file(group->folder, "cpu.stat") : NULL;

	group->periods = group->throttled = 0;
	if (!text)
		return;
	group->periods = usage_text_number(text, "nr_periods ");
	group->throttled = usage_text_number(text, "nr_throttled ");
	free(text);
}

void usage_group_deinit(struct usage_group *group)
{
	free(group->folder);
	free(group->path);
	*group = (struct usage_group){.folder = NULL};
}

/* A group with a quota, if it was throttled more often than the one that is known. */
static void consider(struct usage_group *known, const char *root, const char *path)
{
	struct usage_group group = {.folder = xasprintf("%s%s", root, path), .path = xstrdup(path)};

	group.quota_percent = read_percent(group.folder);
	usage_group_read(&group);
	if (group.quota_percent && (!known->folder || group.throttled > known->throttled)) {
		usage_group_deinit(known);
		*known = group;
	} else {
		usage_group_deinit(&group);
	}
}

struct usage_group usage_group_find(pid_t pid)
{
	struct usage_group found = {.folder = NULL};
	char *groups = procfs_read(pid, "cgroup", NULL), path[MAX_PATH], *end;

	for (size_t i = 0; groups && i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++) {
		if (!usage_text_group(groups, hierarchies[i].is_v1, path, sizeof(path)) ||
		    strstr(path, ".."))
			continue;
		/* The root has no quota. */
		for (int depth = 0; path[0] && path[1] && depth < MAX_DEPTH; depth++) {
			consider(&found, hierarchies[i].root, path);
			end = strrchr(path, '/');
			if (!end)
				break;
			*end = '\0';
		}
	}
	free(groups);
	return found;
}
