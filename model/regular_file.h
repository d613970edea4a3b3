/* SPDX-License-Identifier: BSD-3-Clause
 * Files by names that others give: those of a process and what it maps, of a core, of a directory
 * that others write to. Anything may be there. Opening is an act: it rewinds a tape, starts a
 * watchdog, lets the writer of a fifo go on. So nothing but a regular file is opened at all. */
#ifndef PDB_MODEL_REGULAR_FILE_H
#define PDB_MODEL_REGULAR_FILE_H

#include <sys/stat.h>

/* Open for reading, relative to the directory `dir` or AT_FDCWD. flags: 0, or O_NOFOLLOW.
 * *status_ret (may be NULL) is what it is. Returns a descriptor, closed on exec; -1 and errno:
 * ENXIO if it is no regular file, ELOOP for a link with O_NOFOLLOW. */
int regular_file_open(int dir, const char *path, int flags, struct stat *status_ret);

#endif
