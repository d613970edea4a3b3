/* SPDX-License-Identifier: BSD-3-Clause
 * What is asked of a PMIx server once its rendezvous file is known. PMIx types stay in query.c. */
#ifndef PDB_PMIX_QUERY_H
#define PDB_PMIX_QUERY_H

struct pdb_error;
struct proctable;
struct rendezvous;

/* Connect as a tool, ask, and build the process table of the job `nspace` (NULL: the latest that
 * has living processes, else the latest). Stays connected, if it could connect, until
 * query_disconnect(). May block for as long as the server is silent, and leaves threads behind:
 * only for a process of its own. On success *ret belongs to the caller. */
int query_proctable(const struct rendezvous *server, const char *nspace, struct proctable **ret,
		    struct pdb_error *err);

/* Connect as a tool, and have the server start `program` once on each node of the job `nspace`, as
 * debugger daemons of it, in this environment (ends with NULL) added to what the server gives them.
 * The rest as above; *ret, the name of the job that they are, is freed by the caller. */
int query_spawn(const struct rendezvous *server, const char *nspace, const char *program,
		const char *const *environment, char **ret, struct pdb_error *err);

/* Take leave of the server, if there was a connection. May block as well. */
void query_disconnect(void);

#endif
