/* SPDX-License-Identifier: BSD-3-Clause
 * The source around the places of ranks. */
#pragma once

#include "model/base.h"

struct frame;
struct listed;
struct rankset;
struct session;
struct source;

/* Ten lines around each place of the ranks in that frame. Of a function that none of them is in:
 * around its beginning. The session remembers the last lines, for list_next(). Stacks are sampled
 * first. The arena owns *ret. -1: sampling failed; ERROR_NOT_FOUND. */
int list_frames(struct session *session, struct arena *arena, const struct frame *frame,
		const struct rankset *ranks, struct listed *ret, struct pdb_error *err);

/* Around a line of a file, by the last components of its path. */
int list_line(struct session *session, struct arena *arena, const char *file, int line,
	      const struct rankset *ranks, struct listed *ret, struct pdb_error *err);

/* Are there last lines, in the look that the session shows? */
bool list_can_go_on(const struct session *session);

/* The ten lines behind the last ones, or before them. -1: ERROR_NOT_FOUND: the file ends there. */
int list_next(struct session *session, struct arena *arena, bool is_before,
	      const struct rankset *ranks, struct listed *ret, struct pdb_error *err);

/* A source file that the module's debug information names. The arena owns it. *is_newer_ret: it was
 * written after the program. NULL and *err as source_open() does. */
const struct source *list_open(struct session *session, struct arena *arena, uint32_t module,
			       const char *file, bool *is_newer_ret, struct pdb_error *err);
