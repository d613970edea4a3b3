/* SPDX-License-Identifier: BSD-3-Clause
 * What operands of instructions are called in the source. For conditions.c. */
#pragma once

#include "attach/code/condition.h"
#include "attach/values/values_private.h"

enum { MAX_STEPS = 12 }; /* from an operand back to a variable */

struct naming {
	struct values_search search; /* its address is that of the operand at hand */
	struct debug_functions *functions;
	struct conditions *conditions;
	Dwarf_CFI *cfi;
};

/* What an operand is called. */
struct named {
	const char *text;
	const char *function; /* NULL: global */
	uint64_t variable;    /* as in struct condition_term */
	struct values_type type;
};

/* What the operand holds: the variable that is there, or that it was copied from. depth: of
 * pointers followed so far. */
bool operand_name(struct naming *naming, const struct operand *operand, int depth,
		  struct named *ret);
/* The variable, or the part of one, that is there itself. */
bool operand_variable(struct naming *naming, const struct operand *operand, struct named *ret);
/* Relative to the canonical frame address, if it is known to be a constant away. */
struct code_place operand_place(const struct naming *naming, const struct operand *operand);
