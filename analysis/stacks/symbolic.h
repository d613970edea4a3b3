/* SPDX-License-Identifier: BSD-3-Clause
 * One iteration of a loop, followed symbolically: what registers and stack slots hold at each
 * place, as sums of what they held at the loop's header. */
#ifndef PDB_ANALYSIS_SYMBOLIC_H
#define PDB_ANALYSIS_SYMBOLIC_H

#include "analysis/stacks/flow.h"

struct symbolic;

enum symbolic_result { SYMBOLIC_DONE, SYMBOLIC_IRREDUCIBLE, SYMBOLIC_UNKNOWN_JUMP };

/* flow is borrowed. Stack slots of variables are followed in any case; LOOP_NONE stands for the
 * whole function, once, with its entry for a header. NULL and why. */
struct symbolic *symbolic_create(const struct flow *flow, const struct code_variables *variables,
				 uint32_t loop, enum symbolic_result *result_ret);
void symbolic_destroy(struct symbolic *symbolic); /* NULL is fine */

/* A value as it is before an instruction in the loop, its places relative to the CFA, in terms of
 * what its places held at the header. Unknown if it is no such sum. */
struct code_value symbolic_at(const struct symbolic *symbolic, uint32_t insn,
			      const struct code_value *value);

/* A value in terms of an inner loop's header, as that is entered, in terms of this header. */
struct code_value symbolic_entry(const struct symbolic *symbolic, uint32_t inner,
				 const struct code_value *value);

/* What a place holds at the end of the iteration. */
struct code_value symbolic_next(const struct symbolic *symbolic, struct code_place place);

#endif
