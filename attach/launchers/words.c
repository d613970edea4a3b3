/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/launchers/launcher.h"
#include "attach/launchers/words.h"

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

char **words_split(char *text, size_t size, bool skips_empty)
{
	char **words = xcalloc(size + 1, sizeof(*words));
	size_t num = 0;

	for (char *word = text; word < text + size; word += strlen(word) + 1)
		if (*word || !skips_empty)
			words[num++] = word;
	return words;
}

const char *words_value(char *const *words, const char *name)
{
	for (; words[0] && words[1]; words++)
		if (strcmp(words[0], name) == 0)
			return words[1];
	return NULL;
}

const char *words_variable(const char *const *list, const char *name)
{
	size_t length = strcspn(name, "=");

	for (; list && *list; list++)
		if (strncmp(*list, name, length) == 0 && (*list)[length] == '=')
			return *list + length + 1;
	return NULL;
}

bool words_are_one(const char *text, size_t length, const char *const *names)
{
	while (*names && (strncmp(text, *names, length) != 0 || (*names)[length]))
		names++;
	return *names;
}

void words_add_options(struct words *words, const char *const *argv, const char *const *names)
{
	for (; argv && argv[0]; argv++) {
		size_t length = strcspn(argv[0], "=");

		if (!words_are_one(argv[0], length, names))
			continue;
		if (argv[0][length])
			words_add(words, argv[0]);
		else if (argv[1])
			words_add_all(words, (const char *const[]){argv[0], argv[1], NULL});
	}
}

int words_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void launcher_hosts_deinit(struct launcher_hosts *hosts)
{
	for (size_t i = 0; i < hosts->num; i++)
		free(hosts->names[i]);
	free(hosts->names);
	free(hosts->launcher);
	free(hosts->mark);
	*hosts = (struct launcher_hosts){.names = NULL};
}
