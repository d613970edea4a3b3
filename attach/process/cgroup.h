/* SPDX-License-Identifier: BSD-3-Clause
 * Memory cgroups of processes, of version 1 and 2: whether the kernel has killed in them as memory
 * was out. */
#pragma once

#include "model/base.h"

/* The path of a process' memory cgroup in the text of /proc/PID/cgroup: of version 1 if the
 * controller is there, else of version 2. The caller frees; NULL: there is none, or it is not
 * below the reader's own ("/../other"). */
char *cgroup_memory_path(const char *text, bool *is_v2_ret);

/* The directory of that cgroup, by the text of /proc/self/mountinfo. The caller frees; NULL: it is
 * not mounted here, or is the root, which counts nothing. */
char *cgroup_directory(const char *mounts, const char *path, bool is_v2);

/* "oom_kill N" in memory.events (version 2) or memory.oom_control (1). False: it is not there. */
bool cgroup_parse_kills(const char *text, uint64_t *ret);

/* How many processes the kernel has killed, as memory was out, in the cgroup that all of `pids`
 * are in: their own, or the nearest around them. False: not known. */
bool cgroup_oom_kills(const pid_t *pids, size_t num, uint64_t *ret);
