/* SPDX-License-Identifier: BSD-3-Clause
 * Opens regular files only, by names that come from outside (a process, a core, a shared
 * directory). Anything may be there, and opening can do harm: it rewinds a tape, starts a watchdog,
 * or lets a fifo's writer go on. */
#pragma once

#include <sys/stat.h>

/* Open for reading, relative to the directory `dir` or AT_FDCWD. flags: 0, or O_NOFOLLOW.
 * *status_ret (may be NULL) is what it is. Returns a descriptor, closed on exec; -1 and errno:
 * ENXIO if it is no regular file, ELOOP for a link with O_NOFOLLOW. */
int regular_file_open(int dir, const char *path, int flags, struct stat *status_ret);
