/* SPDX-License-Identifier: BSD-3-Clause
 * Which of some names a word is, by a unique beginning; and what a mistyped one was meant to be:
 * the known name that fewest typing errors lead to it from. */
#ifndef PDB_SHELL_SUGGEST_H
#define PDB_SHELL_SUGGEST_H

#include <stddef.h>

struct pdb_error;

/* Letters left out, added, changed, or swapped with the next one, each counted once ("optimal
 * string alignment"; Damerau 1964). Case is ignored. */
size_t suggest_distance(const char *typed, const char *name);

/* The nearest of names[num] (NULL among them: none there), the first of several; NULL if typing
 * errors cannot explain the word: at most one in three letters. */
const char *suggest_nearest(const char *typed, const char *const *names, size_t num);

/* Which of names[num] (NULL: none) the first `length` bytes of `word` are or uniquely begin. -1:
 * ERROR_USAGE says what there is, by `what` ("setting") and `lead` ("-", before names). */
int suggest_find(const char *what, const char *lead, const char *word, size_t length,
		 const char *const *names, size_t num, struct pdb_error *err);

#endif
