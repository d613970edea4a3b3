/* SPDX-License-Identifier: BSD-3-Clause
 * A launcher that pdb runs to start its daemons on other nodes. */
#pragma once

#include "model/base.h"

struct daemon_plan;

struct daemon_launch {
	pid_t pid;  /* of the launcher; 0: none */
	int output; /* what it has printed: a file in memory */
	const struct launcher_kind *kind;
};

/* Start the plan's command with its environment, without a terminal, in a session of its own.
 * Variables of an MPI job that pdb may be in are left out. The launcher gets a signal when this
 * process ends in any way. */
int daemon_launch_start(const struct daemon_plan *plan, struct daemon_launch *ret,
			struct pdb_error *err);

/* -1 with an error, once it has ended: the end of what it printed says why. */
int daemon_launch_check(struct daemon_launch *launch, struct pdb_error *err);

/* The daemons have been asked to end: wait for the launcher, then end it. */
void daemon_launch_stop(struct daemon_launch *launch, int timeout_ms);
