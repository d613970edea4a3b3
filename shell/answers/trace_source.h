/* SPDX-License-Identifier: BSD-3-Clause
 * Where commands get traces from: those of the last look or, of another run, of a snapshot. */
#ifndef PDB_SHELL_TRACE_SOURCE_H
#define PDB_SHELL_TRACE_SOURCE_H

struct job;
struct pdb_error;
struct rankset;
struct session;
struct traces;

/* The traces of `ranks` (NULL: of all), fetched from other hosts if need be. The caller destroys
 * them, before the next look. ERROR_NOT_FOUND: nothing was traced, and what to do about it. */
struct traces *trace_source_get(struct session *session, const struct rankset *ranks,
				struct pdb_error *err);

/* Fetch what is on other hosts of all ranks, for a snapshot. Nothing to do where there is none. */
int trace_source_complete(struct session *session, struct pdb_error *err);

/* Those of a snapshot, with its job, which the caller destroys after them. */
struct traces *trace_source_load(const char *path, struct job **job_ret, struct pdb_error *err);

#endif
