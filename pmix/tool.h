/* SPDX-License-Identifier: BSD-3-Clause
 * What pdb asks of a PRRTE launcher over a PMIx tool connection (other launchers crash, see
 * docs/daemons.md): the job's process table, and to start daemons on its nodes. A separate process
 * (asker.c) makes the connection; it may outlive the call.
 *
 * Errors of both: ERROR_TIMEOUT (also when the launcher is stopped), ERROR_NOT_FOUND (no rendezvous
 * file, or no job yet), ERROR_UNSUPPORTED (no PRRTE launcher, or in a container), ERROR_PERMISSION,
 * ERROR_GONE, ERROR_SYSTEM; the text says what to do. */
#pragma once

#include "model/base.h"

/* Ask launcher `pid` for the process table of its job `nspace`; NULL: of the latest that still has
 * processes. On success *ret is finished and the caller's. Its source_note says if there were
 * several jobs; its launcher_name is "". */
int pmix_proctable(pid_t pid, const char *nspace, int timeout_ms, struct proctable **ret,
		   struct pdb_error *err);

struct pmix_daemons {
	int leash;    /* what keeps the process that speaks PMIx connected; -1: none */
	char *nspace; /* the name of the job that the daemons are */
};

/* Make launcher `pid` start `program` (a path that is the same on all nodes) once on each node of
 * its job `nspace`, with the variables of `environment` ("NAME=value", the last NULL) added to
 * theirs. The connection stays until pmix_release_daemons(), which also frees *ret, or the end of
 * this process; daemons have to end by themselves then. After ERROR_TIMEOUT daemons may still
 * come. */
int pmix_spawn_daemons(pid_t pid, const char *nspace, const char *program,
		       const char *const *environment, int timeout_ms, struct pmix_daemons *ret,
		       struct pdb_error *err);

void pmix_release_daemons(struct pmix_daemons *daemons);
