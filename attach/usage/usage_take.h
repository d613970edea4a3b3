/* SPDX-License-Identifier: BSD-3-Clause
 * Two readings of /proc about the ranks of this host, and what happened between them
 * (model/job/usage.h). Stops nobody. A reading takes about 60 us for each rank and 15 us for each
 * other process. What cannot be read is 0. */
#pragma once

#include "model/base.h"

struct usage;
struct usage_reading;

/* The first reading, of the processes of this host in the table. */
struct usage_reading *usage_take_begin(const struct proctable *table);
/* The second one; destroys the first. The caller destroys what is returned: without ranks that have
 * ended meanwhile. reading NULL: NULL. */
struct usage *usage_take_end(struct usage_reading *reading);
/* It is not needed any more; NULL is fine. */
void usage_take_destroy(struct usage_reading *reading);
