/* SPDX-License-Identifier: BSD-3-Clause
 * Daemons on the nodes of a job, started by the job's own PRRTE launcher. */
#ifndef PDB_PMIX_SPAWN_H
#define PDB_PMIX_SPAWN_H

#include <sys/types.h>

struct pdb_error;

struct pmix_daemons {
	int leash;    /* what keeps the process that speaks PMIx connected; -1: none */
	char *nspace; /* the name of the job that the daemons are */
};

/* Have launcher `pid` start `program` (a path that is the same on all nodes) once on each node of
 * its job `nspace`, with the variables of `environment` ("NAME=value", the last NULL) added to
 * theirs, waiting for at most `timeout_ms`. A process of its own stays connected to the launcher as
 * long as the leash is held, so until pmix_release_daemons() or the end of this process, whatever
 * the way; daemons have to end by themselves then. On success pmix_release_daemons() frees *ret.
 * Errors: as pmix_proctable(). After ERROR_TIMEOUT daemons may still come. */
int pmix_spawn_daemons(pid_t pid, const char *nspace, const char *program,
		       const char *const *environment, int timeout_ms, struct pmix_daemons *ret,
		       struct pdb_error *err);

void pmix_release_daemons(struct pmix_daemons *daemons);

#endif
