/* SPDX-License-Identifier: BSD-3-Clause
 * Growing lists of words of a command line, or variables of an environment. They own their
 * strings. */
#pragma once

#include "model/base.h"

struct words {
	char **words; /* NULL behind the last; NULL while there is none */
	size_t num, capacity;
};

void words_add(struct words *words, const char *word);
void words_add_all(struct words *words, const char *const *list); /* ends with NULL */
/* Takes over the word, which was allocated. */
void words_add_owned(struct words *words, char *word);

/* The words of a struct words that is gone; NULL is fine. */
void words_free(char **words);

/* The words of a text with a zero byte behind each (/proc/PID/cmdline), and NULL; pointers into the
 * text. The caller frees the array. */
char **words_split(char *text, size_t size, bool skips_empty);

/* What follows the first word of this name; NULL: nothing. */
const char *words_value(char *const *words, const char *name);

/* The value of NAME or "NAME=..." among "NAME=value"; NULL: not there, or there is no list. */
const char *words_variable(const char *const *list, const char *name);

/* Is the text one of the names, as far as the `length` of it goes? */
bool words_are_one(const char *text, size_t length, const char *const *names);

/* Add the options of a command line with one of these names: "NAME VALUE" or "NAME=VALUE". */
void words_add_options(struct words *words, const char *const *argv, const char *const *names);

/* For qsort(). */
int words_compare(const void *a, const void *b);
