/* SPDX-License-Identifier: BSD-3-Clause
 * Expressions that name a place: NAME, with members, elements, and what pointers lead to. Sums,
 * calls and casts are no such expressions: gdb computes these. */
#pragma once

#include "model/base.h"

enum expression_kind {
	EXPRESSION_FOLLOW,  /* *x */
	EXPRESSION_MEMBER,  /* x.name, x->name, x%name */
	EXPRESSION_ELEMENT, /* x[first], x(first) in Fortran, whose arrays begin at 1 */
	EXPRESSION_SLICE,   /* x[first:last], without `last`; x(:) */
};

struct expression_step {
	enum expression_kind kind;
	const char *name;
	int64_t first, last;
	bool is_all; /* a slice: of all elements */
};

enum { EXPRESSION_MAX_STEPS = 16 };

struct expression {
	const char *name; /* "n", "solver::n" */
	/* What is done to it, in this order. */
	struct expression_step steps[EXPRESSION_MAX_STEPS];
	size_t num_steps;
};

/* Parse. Texts live in the arena. -1: ERROR_UNSUPPORTED, the message says what can be read. */
int expression_parse(struct arena *arena, const char *text, struct expression *ret,
		     struct pdb_error *err);
