/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the limits that a process has reached: full file systems of files that it writes, and its
 * number of open descriptors. */
#pragma once

#include "model/base.h"

struct statvfs;

/* "the file system of /tmp/x/out (tmpfs, mounted at /tmp/x) is full; all 64 file descriptors that
 * it may have are open". Only for local file systems. It looks at files for 2 ms, and may count
 * descriptors for 20 ms more; it leaves out what it has not found by then. The caller frees. NULL:
 * no limit is known to be reached. */
char *limits_reached(pid_t pid);

/* Is a file system full? What it keeps free for root is room for a process of root. */
bool limits_is_full(const struct statvfs *stat, bool is_root);
bool limits_is_root(pid_t pid);

/* The soft limit of open files in the text of /proc/PID/limits. False: there is none. */
bool limits_parse_files(const char *text, uint64_t *ret);
