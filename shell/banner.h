/* SPDX-License-Identifier: BSD-3-Clause
 * The job in a few lines, and what is missing in the answers about it. */
#ifndef PDB_SHELL_BANNER_H
#define PDB_SHELL_BANNER_H

#include <stdio.h>

struct rankset;
struct session;

/* What the job is, how it was found, who moves. Three lines. */
void banner_print(struct session *session, FILE *out);

/* The last of them alone. */
void banner_print_moves(struct session *session, FILE *out);

/* What is not known, a line a kind: "ranks 3,7: process has ended (2 of 512 ranks)"; or nothing. */
void banner_print_holes(struct session *session, FILE *out);
/* The same for stacks of `ranks` alone. */
void banner_print_stack_holes(struct session *session, const struct rankset *ranks, FILE *out);

#endif
