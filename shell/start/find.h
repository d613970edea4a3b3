/* SPDX-License-Identifier: BSD-3-Clause
 * Which processes are the job: what the launcher is, and the way to its ranks that is safe for it;
 * and which jobs the user has on this machine. */
#ifndef PDB_SHELL_FIND_H
#define PDB_SHELL_FIND_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct launcher_hosts;
struct launcher_info;
struct pdb_error;
struct proctable;

/* Identify the launcher `pid` and get its process table in the way that launcher_kind.h has for it,
 * else from this node's processes. nspace: one of several jobs of a launcher that takes PMIx tools,
 * or NULL. The caller owns *table_ret, whose source_note says why it is this source, and gives
 * *hosts_ret to launcher_hosts_deinit(): the table has no ranks on these hosts, and maybe none. */
int find_job(pid_t pid, const char *nspace, struct launcher_info *launcher_ret,
	     struct launcher_hosts *hosts_ret, struct proctable **table_ret, struct pdb_error *err);

/* Does the table have every rank that could be found from here, as far as they have started? */
bool find_is_complete(const struct proctable *table, const struct launcher_hosts *hosts);

/* The user's only launcher. ERROR_USAGE: several, listed on `out`; ERROR_NOT_FOUND: none. */
int joblist_choose(pid_t *pid_ret, FILE *out, struct pdb_error *err);

#endif
