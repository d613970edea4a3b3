/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/thresholds.h"

#define SECOND UINT64_C(1000000000)

const struct thresholds thresholds = {
#define THRESHOLD(type, name, value) .name = (value),
#include "analysis/thresholds.def"
#undef THRESHOLD
};
