/* SPDX-License-Identifier: BSD-3-Clause
 * Reads /proc twice about the ranks of this host, and finds what happened between the two readings
 * (model/job/usage.h). It stops nobody. A reading takes about 60 us for each rank and 15 us for
 * each other process; the second up to 0.3 ms more for each rank on hosts with several NUMA nodes.
 * Values that cannot be read are 0. */
#pragma once

#include "model/base.h"

struct usage;
struct usage_reading;

/* The first reading, of the processes of this host in the table. */
struct usage_reading *usage_take_begin(const struct proctable *table);
/* Make the second reading, and destroy the first. The result has no ranks that have ended
 * meanwhile. The caller destroys it. reading NULL: NULL. */
struct usage *usage_take_end(struct usage_reading *reading);
/* Drop a first reading that is not needed any more; NULL is fine. */
void usage_take_destroy(struct usage_reading *reading);
