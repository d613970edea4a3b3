/* SPDX-License-Identifier: BSD-3-Clause
 * The temporal order of the job's stacks (analysis/stacks/temporal.h). Machine code and variables
 * come from the files of the modules; values are read in the frames while stacks are sampled. The
 * session keeps what was learned of the code. */
#ifndef PDB_SHELL_STACK_ORDER_H
#define PDB_SHELL_STACK_ORDER_H

#include <stdbool.h>
#include <stddef.h>

struct pdb_error;
struct progress_code;
struct rankset;
struct samples;
struct session;
struct stack_order;

/* Look at the stacks of these samples: in frames at these places values are read from the next
 * sample on. Returns whether any stack was at a new place. */
bool stack_order_prepare(struct session *session, const struct samples *samples);

/* Sample until all ranks were seen with the variables of their places; the job's samples then. */
int stack_order_sample(struct session *session, const struct rankset *ranks, struct pdb_error *err);

/* Make what is known of the job's latest samples complete: the machine code of their stacks, and
 * the values in those frames in which ranks still are. The samples stay what they are. */
int stack_order_complete(struct session *session, struct pdb_error *err);

/* More different stacks than this are compared only when their order is asked for. */
#define STACK_ORDER_QUICK 256

/* Compare the job's latest samples of these ranks. The caller destroys it, before the session's job
 * goes. NULL: ERROR_NOT_FOUND there is none, ERROR_UNSUPPORTED more than `max` are different. */
struct temporal_result *stack_order_compare(struct session *session, const struct rankset *ranks,
					    size_t max, struct pdb_error *err);

/* That of the last look: session->order, compared now if it was not needed before. */
const struct temporal_result *stack_order_of_look(struct session *session, struct pdb_error *err);

/* What the code tells of loops of MPI calls, by the files of this host. Valid until the next call,
 * at most as long as the session's job. */
struct progress_code stack_order_loops(struct session *session);

void stack_order_destroy(struct stack_order *order); /* NULL is fine */

#endif
