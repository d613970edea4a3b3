/* SPDX-License-Identifier: BSD-3-Clause
 * /proc/PID/mountinfo: the file systems that a process sees. Text in, no system calls. */
#pragma once

#include "model/base.h"

/* One line: 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue */
struct mount {
	int id;
	uint32_t major, minor; /* of the file system, as in /proc/locks */
	char *point;           /* where it is mounted, below the root of the process */
	char *type, *source;
};

/* False: the line (up to its newline) does not parse. Otherwise mount_clear() frees. */
bool mount_parse(const char *line, struct mount *ret);
void mount_clear(struct mount *mount);

/* In the text of mountinfo, the mount with this number. False: none, *ret is empty. */
bool mounts_find_id(const char *text, int id, struct mount *ret);

/* The mount that an absolute path without symbolic links leads to: the longest mount point that is
 * a prefix; of equal ones the last, which covers the others. */
bool mounts_find_path(const char *text, const char *path, struct mount *ret);

/* Is it of a type whose calls do not wait for a server or for another process? */
bool mount_is_local(const struct mount *mount);

/* Where it is mounted, if it has a server or another process that may not answer. The caller frees;
 * NULL: it has none. */
char *mount_far_point(const struct mount *mount);

/* "lustre, mds1@tcp:/scratch, mounted at /scratch". NULL: a kernel's own, as those of devices. The
 * caller frees. */
char *mount_place(const struct mount *mount);
