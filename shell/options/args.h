/* SPDX-License-Identifier: BSD-3-Clause
 * The words after a command on its line, with quotes and numbers.
 *
 * Blanks separate words. 'Single' quotes keep everything, "double" quotes keep all but \" and \\, a
 * backslash keeps the next character. An unquoted # at the beginning of a word ends the line. */
#pragma once

#include <regex.h>

#include "model/base.h"

struct args {
	char **words; /* without the command's own words */
	size_t num_words;
	char *text;       /* holds the words */
	const char *rest; /* the same text as typed, for commands that take it raw; borrowed */
};

/* Split text. On success *args_ret belongs to the caller. ERROR_USAGE: a closing quote is
 * missing. */
int args_parse(const char *text, struct args **args_ret, struct pdb_error *err);
void args_destroy(struct args *args); /* NULL is fine */

/* Take a whole number in [min, max] from word *next and advance *next. `what` names it in messages.
 * -1: ERROR_USAGE. */
int args_take_number(const struct args *args, size_t *next, const char *what, long min, long max,
		     long *ret, struct pdb_error *err);

/* Compile an extended regular expression; the caller gives *ret to regfree(). flags: REG_ICASE or
 * 0. -1: ERROR_USAGE. */
int args_compile(const char *word, int flags, regex_t *ret, struct pdb_error *err);

/* The same, but the arena frees it. NULL: ERROR_USAGE. */
const regex_t *args_compile_in(struct arena *arena, const char *word, struct pdb_error *err);

/* The words from `next` on, joined with blanks. The caller frees. */
char *args_join(const struct args *args, size_t next);

/* -1 and ERROR_USAGE if any words remain from `next` on. */
int args_end(const struct args *args, size_t next, struct pdb_error *err);
