/* SPDX-License-Identifier: BSD-3-Clause
 * Expressions that only gdb understands: a gdb for each rank, a few at a time, which computes one
 * and lets the rank go. It may not write to the rank's memory, and so call no functions there. */
#pragma once

#include "model/base.h"

struct rankset;
struct session;
struct value_reading;

enum { PRINT_GDB_MAX_RANKS = 16 }; /* about half a second for each that is asked for */

/* function: whose frame; NULL: the innermost frame of the program's code that has the names.
 * readings: one for each of the ranks, in their order. Their texts are the arena's. -1:
 * ERROR_INTERRUPTED. */
int print_gdb(struct session *session, struct arena *arena, const char *expression,
	      const char *function, const struct rankset *ranks, struct value_reading *readings,
	      struct pdb_error *err);
