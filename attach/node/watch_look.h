/* SPDX-License-Identifier: BSD-3-Clause
 * A node's part of watching a job: which of its ranks are inside MPI, and which have moved. It
 * reads their segments again and again, at little cost. For ranks without a recorder it takes the
 * stacks of the few that each call names. If all ranks are on pdb's own node, pdb does this itself,
 * else its daemons do. */
#pragma once

#include "model/base.h"

struct daemon_rank;
struct watch_digest;
struct watch_look;

/* For processes of this host whose start times are set (daemon_job.h). They are copied. */
struct watch_look *watch_look_create(const struct daemon_rank *ranks, size_t num);
void watch_look_destroy(struct watch_look *look); /* NULL is fine */

/* Look at all ranks that have a recorder, and at the stacks of those ranks of `sampled` (NULL:
 * none) that have none. Add what is seen to *ret. Takes some microseconds a rank, and some tens for
 * a stack. Never fails: what cannot be seen is not counted. */
void watch_look_take(struct watch_look *look, const struct rankset *sampled,
		     struct watch_digest *ret);
