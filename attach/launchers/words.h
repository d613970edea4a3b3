/* SPDX-License-Identifier: BSD-3-Clause
 * Words of a command line, or variables of an environment, that grow; they own their strings. */
#ifndef PDB_ATTACH_WORDS_H
#define PDB_ATTACH_WORDS_H

#include <stddef.h>

struct words {
	char **words; /* NULL behind the last; NULL while there is none */
	size_t num, capacity;
};

void words_add(struct words *words, const char *word);
void words_add_all(struct words *words, const char *const *list); /* ends with NULL */
/* Takes over the word, which was allocated. */
void words_add_owned(struct words *words, char *word);

/* Of a struct words that is no more; NULL is fine. */
void words_free(char **words);

#endif
