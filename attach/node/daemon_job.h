/* SPDX-License-Identifier: BSD-3-Clause
 * What pdb and its daemons tell each other about a job's processes (model/wire/proc_bytes.h). */
#pragma once

#include "model/base.h"

/* ---- pdb tells its daemons of the job ---- */

struct proc;

struct daemon_rank {
	int rank;
	pid_t pid;
	uint64_t start_ticks; /* 0: there is no such process */
};

/* With the time when the process was started, so that a later one with its pid is not taken for
 * it. */
struct daemon_rank daemon_rank_of(const struct proc *proc);

/* Read the ranks of this host that proc_bytes_put() has written. Returns how many there are; the
 * caller frees *ret. */
size_t daemon_job_take(const uint8_t *bytes, size_t length, struct daemon_rank **ret);

/* How many of them have not ended. */
size_t daemon_job_count_living(const struct daemon_rank *ranks, size_t num);

/* ---- The daemons tell pdb of the ranks that they have found on their hosts ---- */

/* Append a table. */
void daemon_job_put_found(struct buffer *ret, const struct proctable *table);

/* Add the ranks that the table does not have yet, and finish it again. The bytes are tables, one
 * behind the other. Ranks that cannot be are left out; of several processes of one rank the first
 * stays. Returns how many ranks were added; -1 when the table cannot be. */
int daemon_job_take_found(const uint8_t *bytes, size_t length, struct proctable *table,
			  struct pdb_error *err);
