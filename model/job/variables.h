/* SPDX-License-Identifier: BSD-3-Clause
 * Variables of the frames of a sample, with their values as text: those of Python frames, which are
 * read with the stack, and what a snapshot keeps. */
#pragma once

#include "model/base.h"

enum variable_kind { VARIABLE_LOCAL, VARIABLE_ARGUMENT, VARIABLE_GLOBAL };

enum { VARIABLES_MAX = 4096 }; /* of a sample */

struct variable {
	uint32_t depth; /* of the frame in the path; of a global one, of that which can see it */
	uint8_t kind;   /* enum variable_kind */
	bool has_value; /* false: `text` says why not */
	bool is_number;
	double number;
	char *name;
	char *type; /* NULL: not known */
	char *text;
};

struct variables {
	struct variable *list;
	size_t num, capacity;
};

struct variables *variables_create(void);
void variables_destroy(struct variables *variables); /* NULL is fine */

/* Append a copy of *variable with copies of its texts. */
void variables_add(struct variables *variables, const struct variable *variable);
/* Keep only the first `num`. */
void variables_cut(struct variables *variables, size_t num);

/* The variable of that name in the frame at that depth; a global one that any frame can see. NULL:
 * there is none. variables may be NULL. */
const struct variable *variables_find(const struct variables *variables, uint32_t depth,
				      const char *name);
const struct variable *variables_find_global(const struct variables *variables, const char *name);
/* Are there any of that frame? */
bool variables_has_frame(const struct variables *variables, uint32_t depth);
