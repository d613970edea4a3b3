/* SPDX-License-Identifier: BSD-3-Clause
 * The values of expressions in many ranks: which frame has the name, a probe for each place, one
 * sampling of all ranks, and equal values together. */
#ifndef PDB_SHELL_PRINT_VALUES_H
#define PDB_SHELL_PRINT_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "attach/values/values.h"

struct arena;
struct callpath_node;
struct job;
struct pdb_error;
struct printed;
struct printed_locals;
struct rankset;
struct session;

/* frame: a function's name, or the number of a frame of the program's own code, 0 the innermost;
 * NULL: the innermost one that has the name. All expressions are read at one moment of a rank. ret:
 * `num`, which the arena owns. -1: ERROR_UNSUPPORTED,
 * ERROR_USAGE, or sampling failed. */
int print_values(struct session *session, struct arena *arena, const char *const *expressions,
		 size_t num, const char *frame, const struct rankset *ranks, struct printed *ret,
		 struct pdb_error *err);

/* All variables of the innermost frame of the program's own code, function by function, the one that
 * the most ranks are in first. The arena owns *ret. -1: as above. */
int print_locals(struct session *session, struct arena *arena, const struct rankset *ranks,
		 struct printed_locals *ret, struct pdb_error *err);

/* Is it machine code of the program or its libraries, not of MPI or the system? */
bool print_is_own(const struct job *job, const struct callpath_node *node);
/* The node as a frame; its padding is 0, so that it can be a key. */
struct values_frame print_frame(const struct callpath_node *node);

#endif
