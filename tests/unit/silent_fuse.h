/* SPDX-License-Identifier: BSD-3-Clause
 * A file system by FUSE (linux/fuse.h), with one file "file", whose server answers all but reads:
 * a file server that hangs. */
#ifndef PDB_TESTS_UNIT_SILENT_FUSE_H
#define PDB_TESTS_UNIT_SILENT_FUSE_H

#include <stdbool.h>

/* Mount it at `point`, in a mount namespace of this process' own. Returns the descriptor that
 * silent_fuse_serve() takes; -1: this machine allows no such mount. */
int silent_fuse_mount(const char *point);

/* Serve until it is unmounted. answers_statfs: statfs() has an answer, too. */
void silent_fuse_serve(int fd, bool answers_statfs);

#endif
