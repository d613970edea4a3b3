/* SPDX-License-Identifier: BSD-3-Clause
 * The job's process table over a PMIx tool connection. Only for PRRTE launchers: see
 * docs/architecture.md for what happens to others. */
#ifndef PDB_PMIX_TOOL_H
#define PDB_PMIX_TOOL_H

#include <sys/types.h>

struct pdb_error;
struct proctable;

/* Ask the PRRTE launcher `pid` (mpirun, prterun, prte) for its application job and its process
 * table. PMIx can hang or abort against a dying server, so all of it runs in a forked child that is
 * given `timeout_ms` and then ended; the answer comes back over a pipe. With several jobs under one
 * launcher the one named `nspace` is taken, or the latest when nspace is NULL. On success *ret is
 * finished and belongs to the caller. Errors: ERROR_TIMEOUT, ERROR_NOT_FOUND (no rendezvous file,
 * or no job yet), ERROR_PERMISSION, ERROR_GONE, ERROR_SYSTEM; the text says what to do. */
int pmix_proctable(pid_t pid, const char *nspace, int timeout_ms, struct proctable **ret,
		   struct pdb_error *err);

#endif
