/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the values of expressions in many ranks: it finds the frame that has the name, makes a
 * probe for each place, samples all ranks once, and puts equal values together. */
#pragma once

#include "attach/values/values.h"

struct callpath_node;
struct frame;
struct printed;
struct printed_locals;
struct session;

/* FRAME_ANY: the innermost frame that has the name, or a global variable. All expressions are read
 * at one moment of a rank. ret: `num`, which the arena owns. -1: ERROR_UNSUPPORTED, ERROR_USAGE, or
 * sampling failed. */
int print_values(struct session *session, struct arena *arena, const char *const *expressions,
		 size_t num, const struct frame *frame, const struct rankset *ranks,
		 struct printed *ret, struct pdb_error *err);

/* All variables of the frame, or its arguments; FRAME_ANY: the innermost frame of the program's own
 * code. Function by function, the one that the most ranks are in first. The arena owns *ret. -1: as
 * above. */
int print_locals(struct session *session, struct arena *arena, const struct frame *frame,
		 bool are_arguments, const struct rankset *ranks, struct printed_locals *ret,
		 struct pdb_error *err);

/* The node as a frame; its padding is 0, so that it can be a key. */
struct values_frame print_frame(const struct callpath_node *node);
