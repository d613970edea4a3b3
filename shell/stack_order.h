/* SPDX-License-Identifier: BSD-3-Clause
 * The temporal order of the job's stacks (analysis/temporal.h), for all commands and answers that
 * go by it: machine code and variables come from the files of the modules, and the variables'
 * values are read in the frames while stacks are sampled. */
#ifndef PDB_SHELL_STACK_ORDER_H
#define PDB_SHELL_STACK_ORDER_H

#include <stdbool.h>

struct pdb_error;
struct rankset;
struct samples;
struct session;
struct stack_order;
struct temporal_result;

/* Of the session's present job, whose files are read only when there are stacks. Borrows the
 * session. */
struct stack_order *stack_order_create(struct session *session);
void stack_order_destroy(struct stack_order *order); /* NULL is fine; ends the reading of values */

/* Look at the stacks of these samples: in frames at these places values are read from the next
 * sample on. */
void stack_order_prepare(struct stack_order *order, const struct samples *samples);

/* Sample until all ranks have been seen with the variables of the places where they are; the
 * samples become the job's. */
int stack_order_sample(struct stack_order *order, const struct rankset *ranks,
		       struct pdb_error *err);

/* Compare the job's latest samples of these ranks. The caller destroys it, before the order. NULL:
 * ERROR_NOT_FOUND there is none, ERROR_UNSUPPORTED too many are different. */
struct temporal_result *stack_order_compare(struct stack_order *order, const struct rankset *ranks,
					    struct pdb_error *err);

#endif
