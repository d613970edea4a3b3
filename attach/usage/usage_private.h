/* SPDX-License-Identifier: BSD-3-Clause
 * Groups of processes (cgroups) with a limit of processor time, and their counts. Shared by the
 * files that read them. */
#pragma once

#include "model/base.h"

struct usage_group {
	char *folder; /* of the group with a quota, below /sys/fs/cgroup; NULL: none has one */
	char *path;   /* its name, as /proc/PID/cgroup has it */
	uint64_t periods, throttled, quota_percent;
};

/* Find the group of a process, or one around it: the one that the kernel throttled most often. */
struct usage_group usage_group_find(pid_t pid);
/* Its counts now; 0 where it is gone. */
void usage_group_read(struct usage_group *group);
void usage_group_deinit(struct usage_group *group);
