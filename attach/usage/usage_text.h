/* SPDX-License-Identifier: BSD-3-Clause
 * Parses files of /proc and /sys/fs/cgroup, as kernels from 5.14 on write them. A value that is not
 * in a file is 0: a kernel may be built without it. */
#pragma once

#include "model/base.h"

/* /proc/PID/task/TID/schedstat: time on a processor, and ready without one. False: not counted. */
bool usage_text_schedstat(const char *text, uint64_t *ran_ns_ret, uint64_t *queued_ns_ret);

/* The numbers below `most` in a file of one list, such as "0-3,8\n"; none if it does not fit. Never
 * NULL, the caller destroys it. */
struct rankset *usage_text_list(const char *text, int most);

/* The processors that the process may use, by its /proc/PID/status, in the same way. */
struct rankset *usage_text_allowed(const char *status);

/* The number behind `key`, which begins a line: "pswpin ", "nr_throttled ". */
uint64_t usage_text_number(const char *text, const char *key);

/* /proc/stat: ticks taken by the hypervisor, of all processors; how many there are. */
void usage_text_stat(const char *text, uint64_t *steal_ticks_ret, uint32_t *num_processors_ret);

/* /proc/PID/cgroup: the path of the group that limits processor time. is_v1: of version 1, else of
 * version 2. False: there is none, or it does not fit. */
bool usage_text_group(const char *text, bool is_v1, char *path, size_t size);

/* cpu.max of version 2, "max 100000" or "50000 100000": percent of a processor; 0: no limit. */
uint64_t usage_text_cpu_max(const char *text);
