/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the temporal order of the job's stacks (analysis/stacks/temporal.h). It reads machine code
 * from the program files on this host, else from a rank's node. Sampling also reads the values of
 * variables in the frames. The session keeps the code. */
#pragma once

#include "model/base.h"

struct code_function;
struct code_reader;
struct progress_code;
struct session;
struct stack_order;

/* Add the stacks of these samples. Later samples then read values in their frames. Returns whether
 * these samples lack any of that. */
bool stack_order_prepare(struct session *session, const struct samples *samples);

/* Sample `ranks` until all values are read, in a few rounds at most. The last samples become
 * the job's; they have the values of the variables at their places. -1 and *err: sampling
 * failed. */
int stack_order_sample(struct session *session, const struct rankset *ranks, struct pdb_error *err);

/* Complete the job's latest samples: read the machine code of their stacks, and values in the
 * frames that ranks are still in. A rank may have gone on within its innermost frame. Then the
 * sample that has its values is added: for a rank with a recorder always, else only soon after the
 * look. -1 and *err: values could not be read. */
int stack_order_complete(struct session *session, struct pdb_error *err);

/* With more different stacks than this, only commands that ask for the order compare them. */
#define STACK_ORDER_QUICK 256

/* Compare the job's latest samples of these ranks. The caller destroys the result, before the
 * session leaves the job. NULL: ERROR_NOT_FOUND: there is no stack; ERROR_UNSUPPORTED: more than
 * `max` stacks differ. */
struct temporal_result *stack_order_compare(struct session *session, const struct rankset *ranks,
					    size_t max, struct pdb_error *err);

/* The order of the last look, session->order. It is compared now if nothing needed it before.
 * Borrowed. NULL and *err as stack_order_compare(). */
const struct temporal_result *stack_order_of_look(struct session *session, struct pdb_error *err);

/* What the machine code says about loops of MPI calls, from the files on this host. Valid until the
 * next call, and no longer than the session's job. */
struct progress_code stack_order_loops(struct session *session);

/* The function that holds the address, and what reads others, once stacks have been compared. NULL
 * and *err: it is not known. */
const struct code_function *stack_order_function(struct session *session, uint32_t module,
						 uint64_t address, struct pdb_error *err);
struct code_reader *stack_order_reader(struct session *session);

void stack_order_destroy(struct stack_order *order); /* NULL is fine */
