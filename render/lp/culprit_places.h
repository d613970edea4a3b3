/* SPDX-License-Identifier: BSD-3-Clause
 * Where ranks are, as lines of lp's answer. */
#ifndef PDB_RENDER_CULPRIT_PLACES_H
#define PDB_RENDER_CULPRIT_PLACES_H

#include <stdbool.h>

struct rankset;
struct view;

/* For each group of culprits, of four at most: its place and for how long, and in which
 * iterations of which loops it is, beside the others'. The verdict must have groups. has_places:
 * their places are told already. */
void culprit_places_print(const struct view *view, bool has_places);

/* "MPI_Recv, exchange() at halo.c:12": where a rank's latest sample is, and the function of MPI
 * that is called from there, if it is inside one. NULL: there is no stack. */
const char *stack_place(const struct view *view, int rank);
/* "MPI_Recv"; NULL: not inside MPI, or no stack. */
const char *stack_call(const struct view *view, int rank);

/* "rank 3: in MPI_Recv, exchange() at halo.c:12": a line for each place of the main threads of
 * these ranks, most ranks first, of four at most. Nothing for ranks without a stack. */
void stack_places_print(const struct view *view, const struct rankset *ranks);

#endif
