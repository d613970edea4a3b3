/* SPDX-License-Identifier: BSD-3-Clause
 * The job's process table over a PMIx tool connection. Only for PRRTE launchers: see
 * docs/daemons.md for what happens to others. */
#ifndef PDB_PMIX_TOOL_H
#define PDB_PMIX_TOOL_H

#include <sys/types.h>

struct pdb_error;
struct proctable;

/* Ask the PRRTE launcher `pid` (mpirun, prterun, prte) for its application job and its process
 * table, waiting for at most `timeout_ms`. PMIx runs in a process of its own, which outlives the
 * call after a time-out until the launcher has answered or ended: a launcher that finds its tool
 * gone too early crashes. With several jobs under one launcher the one named `nspace` is taken, or
 * when nspace is NULL the latest that still has processes. On success *ret is finished and belongs
 * to the caller; its source_note says when there were several jobs, its launcher_name is "".
 * Errors: ERROR_TIMEOUT (also when the launcher is stopped), ERROR_NOT_FOUND (no rendezvous file,
 * or no job yet), ERROR_UNSUPPORTED (no PRRTE launcher, or in a container), ERROR_PERMISSION,
 * ERROR_GONE, ERROR_SYSTEM; the text says what to do. */
int pmix_proctable(pid_t pid, const char *nspace, int timeout_ms, struct proctable **ret,
		   struct pdb_error *err);

#endif
