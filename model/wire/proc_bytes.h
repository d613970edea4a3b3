/* SPDX-License-Identifier: BSD-3-Clause
 * The processes of a job as bytes: in snapshots, and between pdb, its daemons and the process that
 * speaks PMIx. */
#pragma once

#include "model/base.h"

struct decoder;
struct proc;

/* Rank, pid, host and executable of each, and whether it has ended. */
void proc_bytes_put(struct buffer *b, const struct proctable *table);

/* Told of each process in turn. Of its rank nothing is known; it and the texts are borrowed, and
 * equal texts have equal pointers. */
typedef void proc_bytes_fn(void *context, const struct proc *proc);

/* Those before it turns bad. Each is charged with its texts, as if it was kept. */
void proc_bytes_take(struct decoder *in, proc_bytes_fn *tell, void *context);

/* The same into a table; proctable_finish() is still to be called. */
void proc_bytes_take_table(struct decoder *in, struct proctable *table);

/* A set of ranks; those that are taken are below num_ranks. Never NULL, the caller destroys it. */
void proc_bytes_put_ranks(struct buffer *b, const struct rankset *ranks);
struct rankset *proc_bytes_take_ranks(struct decoder *in, int num_ranks);
