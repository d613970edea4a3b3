/* SPDX-License-Identifier: BSD-3-Clause
 * What a conditional jump of machine code asks, in the words of the source. Plain data, filled by
 * attach/values. */
#pragma once

#include "model/job/code.h"

struct value_type;

enum condition_relation {
	CONDITION_UNKNOWN, /* only what it depends on is known */
	CONDITION_EQUAL,
	CONDITION_UNEQUAL,
	CONDITION_LESS,
	CONDITION_LESS_EQUAL,
	CONDITION_GREATER,
	CONDITION_GREATER_EQUAL,
	CONDITION_UNORDERED, /* one of them is NaN */
	CONDITION_ORDERED,
	CONDITION_TABLE, /* `left` is the index in the jump's table of targets */
};

/* ((the value, or its absolute value) & mask) + add. */
struct condition_term {
	bool is_known;        /* else it only depends on `name`, which may be NULL */
	bool is_constant;     /* `number` */
	const char *name;     /* an expression that `print` reads, "p->n" */
	const char *function; /* whose variable it is, by its own name; NULL: a global one */
	uint64_t variable;    /* which one of that name: the offset of its debug information */
	const char *called;   /* it is what this function has returned, or NULL */
	const struct value_type *type;
	/* Where that was: an integer in a register, or in memory. */
	bool has_place;
	struct code_place place;
	uint64_t at; /* before the instruction at this address */
	bool is_absolute;
	uint64_t mask; /* 0: none */
	int64_t add;
	double number;
};

struct condition {
	uint64_t address; /* of the jump */
	enum condition_relation relation;
	bool is_float;
	bool is_unsigned;     /* it compares integers without sign, of `size` bytes */
	bool is_true_for_nan; /* it jumps if one of them is NaN */
	uint8_t size;
	struct condition_term left, right;
};

/* Does it jump, with these values of the terms' names? 1, 0; -1: not known. */
int condition_holds(const struct condition *condition, double left, double right);
/* The index in a table of targets; -1: none, or not known. */
int64_t condition_index(const struct condition *condition, double left);
