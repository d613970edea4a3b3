/* SPDX-License-Identifier: BSD-3-Clause
 * What the waits tell of the cause, as lines of lp's answer. */
#ifndef PDB_RENDER_CAUSE_H
#define PDB_RENDER_CAUSE_H

#include <stdbool.h>

struct view;
struct waitfor_mismatch;

/* The lines below the first one: "deadlock: ...", "mismatch: ...", "lost message: ..." with who
 * waits for what. Nothing for other verdicts. */
void cause_print(const struct view *view);

/* The same of a verdict with a queue_cause: view_queue_waits.c. */
void cause_print_queues(const struct view *view);

/* Do these lines say where the culprits are? */
bool cause_has_places(const struct view *view);

/* Who waits for the culprits, directly and behind those. Nothing where the waits do not tell. */
void cause_print_waits(const struct view *view, int indent);

/* "mismatch: ..." with a line for each party. */
void cause_print_mismatch(const struct view *view, const struct waitfor_mismatch *mismatch,
			  int indent);

/* The commands that show it closer; "" for other verdicts. */
const char *cause_next(const struct view *view);

#endif
