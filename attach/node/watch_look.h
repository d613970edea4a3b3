/* SPDX-License-Identifier: BSD-3-Clause
 * A node's part of watching a job: who of its ranks is inside MPI, and who has moved. It reads
 * their segments cheaply, again and again, or takes stacks of the few ranks that are named each
 * time. pdb does it itself if all ranks are on its own node, else its daemons do. */
#pragma once

#include "model/base.h"

struct daemon_rank;
struct watch_digest;
struct watch_look;

/* For processes of this host whose start times are set (daemon_job.h). They are copied. */
struct watch_look *watch_look_create(const struct daemon_rank *ranks, size_t num);
void watch_look_destroy(struct watch_look *look); /* NULL is fine */

/* Look at all ranks that have a recorder, and at the stacks of those of `sampled` (NULL: none) that
 * have none; add what is seen to *ret. Takes some microseconds a rank, some tens for a stack. Never
 * fails: what cannot be seen is not counted. */
void watch_look_take(struct watch_look *look, const struct rankset *sampled,
		     struct watch_digest *ret);
