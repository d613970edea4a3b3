/* SPDX-License-Identifier: BSD-3-Clause
 * Which loops of the program's code contain which calls. Needed where transitions cannot tell one
 * loop from nested ones. */
#ifndef PDB_ANALYSIS_CODE_LOOPS_H
#define PDB_ANALYSIS_CODE_LOOPS_H

#include "analysis/progress/progress.h"
#include "analysis/stacks/temporal.h"

struct code_loops;

/* Borrows both; source->get_variables is not called, NULL from get_function: not known. */
struct code_loops *code_loops_create(const struct callpaths *callpaths,
				     const struct temporal_source *source);
void code_loops_destroy(struct code_loops *loops); /* NULL is fine */

/* Answers for progress_create_by_code(), from `context`, a struct code_loops. */
enum progress_nesting code_loops_ask(void *context, const struct progress_calls *calls);

#endif
