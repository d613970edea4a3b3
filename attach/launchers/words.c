/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "attach/launchers/words.h"
#include "model/xalloc.h"

void words_add_owned(struct words *words, char *word)
{
	words->words = xgrow(words->words, words->num + 1, &words->capacity, sizeof(char *));
	words->words[words->num++] = word;
	words->words[words->num] = NULL;
}

void words_add(struct words *words, const char *word)
{
	words_add_owned(words, xstrdup(word));
}

void words_add_all(struct words *words, const char *const *list)
{
	for (; *list; list++)
		words_add(words, *list);
}

void words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}
