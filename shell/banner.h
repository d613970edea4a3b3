/* SPDX-License-Identifier: BSD-3-Clause
 * Prints a summary of the job in a few lines, and what answers about it will lack. */
#pragma once

#include "model/base.h"

struct session;

/* Print three lines: what the job is, how it was found, which ranks move. */
void banner_print(struct session *session, FILE *out);

/* Print only the line about which ranks move. */
void banner_print_moves(struct session *session, FILE *out);

/* Print what is not known, one line per kind: "ranks 3,7: process has ended (2 of 512 ranks)".
 * Prints nothing if all is known. */
void banner_print_holes(struct session *session, FILE *out);
/* The same for the stacks of `ranks` only. */
void banner_print_stack_holes(struct session *session, const struct rankset *ranks, FILE *out);
