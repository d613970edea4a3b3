/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the processes of a job: identifies its launcher and lists the ranks in a way that is safe
 * for that launcher. Also lists the user's jobs on this machine. */
#ifndef PDB_SHELL_FIND_H
#define PDB_SHELL_FIND_H

#include <sys/types.h>

#include "model/std.h"

struct launcher_hosts;
struct launcher_info;
struct pdb_error;
struct proctable;

/* Identify the launcher `pid` and get its process table: as launcher_kind.h says for this launcher,
 * else from this node's processes. nspace: one of several jobs of a launcher that takes PMIx tools,
 * or NULL. The caller owns *table_ret; its source_note says why this source was used. *hosts_ret:
 * hosts whose ranks the table lacks, maybe none; the caller calls launcher_hosts_deinit(). -1 and
 * *err. */
int find_job(pid_t pid, const char *nspace, struct launcher_info *launcher_ret,
	     struct launcher_hosts *hosts_ret, struct proctable **table_ret, struct pdb_error *err);

/* Does the table have every rank that could be found from here and has started? */
bool find_is_complete(const struct proctable *table, const struct launcher_hosts *hosts);

/* Find the user's only launcher. -1: ERROR_USAGE: there are several, listed on `out`;
 * ERROR_NOT_FOUND: there is none. */
int joblist_choose(pid_t *pid_ret, FILE *out, struct pdb_error *err);

#endif
