/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the name that a word stands for: by a unique beginning, or, for a mistyped word, the name
 * with the fewest typing errors. */
#pragma once

#include "model/base.h"

/* Number of typing errors between the two: letters left out, added, changed, or swapped with the
 * next one ("optimal string alignment"; Damerau 1964). Case is ignored. */
size_t suggest_distance(const char *typed, const char *name);

/* The nearest of names[num], the first of several equally near ones. names[] may contain NULL.
 * Returns NULL if typing errors cannot explain the word: at most one in three letters. */
const char *suggest_nearest(const char *typed, const char *const *names, size_t num);

/* Find the name that equals the first `length` bytes of `word`, or that these begin uniquely.
 * Returns its index in names[num], which may contain NULL. -1: ERROR_USAGE, which lists the names.
 * what: the kind of name for the message ("setting"). lead: text before each name ("-"). */
int suggest_find(const char *what, const char *lead, const char *word, size_t length,
		 const char *const *names, size_t num, struct pdb_error *err);
