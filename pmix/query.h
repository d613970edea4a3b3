/* SPDX-License-Identifier: BSD-3-Clause
 * Questions to a PMIx server whose rendezvous file is known. PMIx types stay in query.c. */
#pragma once

#include "model/base.h"

struct rendezvous;

/* Connect as a tool, ask, and build the process table of the job `nspace` (NULL: the latest with
 * living processes, else the latest). The caller owns it. Stays connected, if it could connect,
 * until query_disconnect(). May block as long as the server is silent, and leaves threads behind:
 * only for a process of its own. */
int query_proctable(const struct rendezvous *server, const char *nspace, struct proctable **ret,
		    struct pdb_error *err);

/* The same to start `program` once on each node of the job `nspace`, as its debugger daemons, with
 * this environment (ends with NULL) added. The caller frees *ret, the name of the daemons' job. */
int query_spawn(const struct rendezvous *server, const char *nspace, const char *program,
		const char *const *environment, char **ret, struct pdb_error *err);

/* Disconnect from the server, if connected. May block as well. */
void query_disconnect(void);
