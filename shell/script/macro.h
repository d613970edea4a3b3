/* SPDX-License-Identifier: BSD-3-Clause
 * User-defined commands: names for lists of lines. */
#ifndef PDB_SHELL_MACRO_H
#define PDB_SHELL_MACRO_H

#include "model/std.h"

struct args;

struct macro {
	char *name;
	char **lines;
	size_t num_lines, capacity;
	struct macro *next; /* by name */
};

struct macros {
	struct macro *first;
};

/* Valid names consist of letters, digits, '-' and '_' and begin with a letter. */
bool macro_name_is_valid(const char *name);

struct macro *macro_create(const char *name);
void macro_destroy(struct macro *macro); /* NULL is fine */
void macro_add_line(struct macro *macro, const char *line);

/* Take over `macro`; it replaces one of the same name. */
void macros_set(struct macros *macros, struct macro *macro);
/* By exact name; NULL if there is none. */
const struct macro *macros_find(const struct macros *macros, const char *name);
void macros_clear(struct macros *macros);

/* `line` with $arg0, $arg1, ..., $argc replaced by the call's words; missing words are empty. The
 * caller frees. */
char *macro_expand(const char *line, const struct args *args);

#endif
