/* SPDX-License-Identifier: BSD-3-Clause
 * The user's jobs on this machine. */
#ifndef PDB_SHELL_JOBLIST_H
#define PDB_SHELL_JOBLIST_H

#include <stdio.h>
#include <sys/types.h>

struct pdb_error;

/* The launcher of the user's only job, into *pid_ret. With several of them, a list on `out` and
 * ERROR_USAGE; with none, ERROR_NOT_FOUND. */
int joblist_choose(pid_t *pid_ret, FILE *out, struct pdb_error *err);

#endif
