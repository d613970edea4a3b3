/* SPDX-License-Identifier: BSD-3-Clause
 * What decides by how long, how often or how many: thresholds.def has the values and reasons. */
#pragma once

#include "model/base.h"

struct thresholds {
#define THRESHOLD(type, name, value) type name;
#include "analysis/thresholds.def"
#undef THRESHOLD
};

extern const struct thresholds thresholds;
