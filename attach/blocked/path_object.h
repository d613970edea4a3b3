/* SPDX-License-Identifier: BSD-3-Clause
 * The file that another process names by a path. pdb walks the path only through local file
 * systems, so no call here waits for a server. On other file systems the path stays a text. */
#pragma once

#include "model/base.h"

struct path_object {
	/* Absolute, as the process names it; relative if its base is not known. <= 4096 bytes. */
	char *path;
	char *place; /* as in struct blocked: where the path leads to, links followed */
	char *point; /* the same of struct blocked */
	char *fifo;  /* it is one: how a link of /proc/PID/fd names it; NULL */
};

/* Of the path as the process wrote it, relative to the directory `base` (AT_FDCWD, or a
 * descriptor). follows: also a symbolic link at its end. path_object_clear() frees. */
void path_object_read(pid_t pid, int base, const char *path, bool follows, struct path_object *ret);
void path_object_clear(struct path_object *object);
