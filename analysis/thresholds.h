/* SPDX-License-Identifier: BSD-3-Clause
 * All that decides by how long, how often or how many: thresholds.def has the values and reasons. */
#ifndef PDB_ANALYSIS_THRESHOLDS_H
#define PDB_ANALYSIS_THRESHOLDS_H

#include <stddef.h>
#include <stdint.h>

struct thresholds {
#define THRESHOLD(type, name, value) type name;
#include "analysis/thresholds.def"
#undef THRESHOLD
};

extern const struct thresholds thresholds;

#endif
