/* SPDX-License-Identifier: BSD-3-Clause
 * What a lane does, as far as its model and the second look tell. */
#ifndef PDB_ANALYSIS_ACTIVITY_H
#define PDB_ANALYSIS_ACTIVITY_H

#include "analysis/progress/eqgroup.h"

struct job_lane;

enum activity activity_of_lane(const struct job_lane *lane);
/* Has it made no transition between the looks, or with one look none for 200 ms? */
bool activity_is_static(const struct job_lane *lane);

/* How long it has done what it does now: of one that computes since its last poll, if it has polled
 * in its state, and else since its last transition. */
uint64_t activity_stay_ns(const struct job_lane *lane);

#endif
