/* SPDX-License-Identifier: BSD-3-Clause
 * Loop variables: integers that tell in which iteration of a loop a frame is. Each iteration
 * changes them by the same constant, added or shifted by. They begin with the same value in all
 * ranks: a constant, or a function of an outer loop's variable. They are found by following values
 * symbolically from the header through one iteration. So it does not matter where the compiler
 * keeps them, as long as DWARF gives their location at the places in question.
 *
 * After the loop order variables of Ahn et al., "Scalable Temporal Order Analysis for Large Scale
 * Debugging" (SC 2009), which are found in source code. */
#ifndef PDB_ANALYSIS_LOOP_VARIABLES_H
#define PDB_ANALYSIS_LOOP_VARIABLES_H

#include "analysis/stacks/flow.h"
#include "model/job/code.h"

enum loop_variable_kind {
	LOOP_VARIABLE_ADDS,
	LOOP_VARIABLE_GROWS,   /* multiplied */
	LOOP_VARIABLE_SHRINKS, /* shifted to the right */
};

enum loop_variable_result {
	LOOP_VARIABLE_FOUND,
	LOOP_VARIABLE_NO_DEBUG_INFO,
	LOOP_VARIABLE_NONE,         /* no integer is changed so in each iteration */
	LOOP_VARIABLE_NO_START,     /* `variable` is, but from where on may differ between ranks */
	LOOP_VARIABLE_UNREADABLE,   /* `variable` is, but cannot be read at these places */
	LOOP_VARIABLE_IRREDUCIBLE,  /* the loop, or one inside it, has several entries */
	LOOP_VARIABLE_UNKNOWN_JUMP, /* a jump in it is not understood */
};

/* How the variable is read at one place, and how its values at several places are compared. */
struct loop_variable_site {
	bool is_readable;
	struct code_value value; /* for a probe */
	int64_t subtract;        /* so that values of all sites can be compared */
	int64_t divide;          /* of LOOP_VARIABLE_GROWS */
};

struct loop_variable {
	enum loop_variable_result result;
	const struct code_variable *variable; /* borrowed; NULL: none */
	enum loop_variable_kind kind;
	bool is_down;       /* of LOOP_VARIABLE_ADDS */
	bool is_from_start; /* `subtract` is the value in the first iteration */
	struct loop_variable_site *sites;
};

/* Choose the variable of the loop that can be read at most of the first num_places of `places`.
 * num_more others follow them. All are in the loop. ret->sites has an element for each; the caller
 * frees it. */
void loop_variables_choose(const struct flow *flow, const struct code_variables *variables,
			   uint32_t loop, const struct flow_place *places, size_t num_places,
			   size_t num_more, struct loop_variable *ret);

/* Which of two iterations is the earlier one? Negative: a; 0: they are the same. False: these
 * values do not tell, since what is multiplied or shifted has come to an end. */
bool loop_variable_compare(const struct loop_variable *variable, size_t site_a, int64_t value_a,
			   size_t site_b, int64_t value_b, int *order_ret);

#endif
