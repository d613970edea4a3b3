/* SPDX-License-Identifier: BSD-3-Clause
 * What lp's answer is made of, and what other answers take of it. */
#ifndef PDB_RENDER_LP_H
#define PDB_RENDER_LP_H

#include <stdbool.h>
#include <stdint.h>

struct rankset;
struct view;
struct waitfor_mismatch;

/* ---- What the waits tell of the cause: cause.c ---- */

/* The lines below the first one: "deadlock: ...", "mismatch: ...", "lost message: ..." with who
 * waits for what. Nothing for other verdicts. */
void cause_print(const struct view *view);
/* Ranks that wait for each other, of whom nobody is named. */
void cause_print_open(const struct view *view);
/* Do these lines say where the culprits are? */
bool cause_has_places(const struct view *view);
/* Who waits for the culprits, directly and behind those. Nothing where the waits do not tell. */
void cause_print_waits(const struct view *view, int indent);
/* "mismatch: ..." with a line for each pair and each party: cause_mismatch.c. */
void cause_print_mismatch(const struct view *view, const struct waitfor_mismatch *mismatch,
			  int indent);
/* The request of another rank that meets this need, if that is made and not started; or nothing. */
void cause_print_unstarted(const struct view *view, uint32_t need, int indent);
/* The commands that show it closer; "" for other verdicts. */
const char *cause_next(const struct view *view);

/* What culprits look for in windows that they poll, and who may have left that out: looks.c. */
void looks_print(const struct view *view, int indent);

/* ---- Where ranks are: culprit_places.c ---- */

/* For each group of culprits, of four at most: its place and for how long, unless has_places says
 * that they are told, and in which iterations of which loops it is, beside the others'. */
void culprit_places_print(const struct view *view, bool has_places);
/* "MPI_Recv, exchange() at halo.c:12": the call of MPI, if it is inside one, and the place of a
 * rank's latest sample. NULL: there is no stack. */
const char *stack_place(const struct view *view, int rank);
/* "MPI_Recv"; NULL: not inside MPI, or no stack. */
const char *stack_call(const struct view *view, int rank);
/* "rank 3: in MPI_Recv, exchange() at halo.c:12": a line for each place of the main threads of
 * these ranks, most ranks first, of four at most. Nothing for ranks without a stack. */
void stack_places_print(const struct view *view, const struct rankset *ranks);

#endif
