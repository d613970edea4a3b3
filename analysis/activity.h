/* SPDX-License-Identifier: BSD-3-Clause
 * What a lane does, as far as its model and the second look tell. */
#ifndef PDB_ANALYSIS_ACTIVITY_H
#define PDB_ANALYSIS_ACTIVITY_H

#include "analysis/eqgroup.h"

struct job_lane;

enum activity activity_of_lane(const struct job_lane *lane);

#endif
