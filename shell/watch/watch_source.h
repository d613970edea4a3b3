/* SPDX-License-Identifier: BSD-3-Clause
 * Where the looks at a watched job come from: this process, where all ranks are on its host, or the
 * daemons. */
#ifndef PDB_SHELL_WATCH_SOURCE_H
#define PDB_SHELL_WATCH_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct pdb_error;
struct rankset;
struct session;
struct watch_digest;
struct watch_source;

/* For the session's job, which is live; the session is borrowed. */
struct watch_source *watch_source_create(struct session *session);
void watch_source_destroy(struct watch_source *source); /* NULL is fine */

/* How often a look is cheap enough: nanoseconds between two. */
uint64_t watch_source_interval(const struct watch_source *source);

/* Look at all ranks with a recorder, and at the stacks of those of `sampled` that have none, into
 * an initialised digest. -1: as daemons_look(), what is left to do for lost daemons done. */
int watch_source_look(struct watch_source *source, const struct rankset *sampled,
		      struct watch_digest *ret, struct pdb_error *err);

#endif
