/* SPDX-License-Identifier: BSD-3-Clause
 * Where the culprits are by their models, as lines of lp's answer. */
#ifndef PDB_RENDER_CULPRIT_PLACES_H
#define PDB_RENDER_CULPRIT_PLACES_H

struct view;

/* For each group of culprits, of four at most: its place and for how long, and in which
 * iterations of which loops it is, beside the others'. The verdict must have groups. */
void culprit_places_print(const struct view *view);

#endif
