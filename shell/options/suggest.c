/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/options/suggest.h"

#include "model/error.h"
#include "model/xalloc.h"

/* No name is longer. */
#define MAX_LETTERS 40
/* Longer lists of names are not shown. */
#define MAX_LISTED 16

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t suggest_distance(const char *typed, const char *name)
{
	size_t rows[3][MAX_LETTERS + 1]; /* for the last letters of `typed`, by letters of `name` */
	size_t num_typed = strlen(typed), num_name = strlen(name);

	if (num_typed > MAX_LETTERS || num_name > MAX_LETTERS)
		return num_typed + num_name;
	for (size_t j = 0; j <= num_name; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= num_typed; i++) {
		size_t *row = rows[i % 3], *before = rows[(i + 2) % 3];
		const size_t *two_before = rows[(i + 1) % 3];
		int letter = tolower((unsigned char)typed[i - 1]);

		row[0] = i;
		for (size_t j = 1; j <= num_name; j++) {
			int other = tolower((unsigned char)name[j - 1]);

			row[j] = least(before[j - 1] + (letter != other),
				       least(before[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && letter == tolower((unsigned char)name[j - 2]) &&
			    tolower((unsigned char)typed[i - 2]) == other)
				row[j] = least(row[j], two_before[j - 2] + 1);
		}
	}
	return rows[num_typed % 3][num_name];
}

const char *suggest_nearest(const char *typed, const char *const *names, size_t num)
{
	size_t best = (strlen(typed) + 2) / 3 + 1;
	const char *nearest = NULL;

	for (size_t i = 0; i < num; i++) {
		size_t distance = names[i] ? suggest_distance(typed, names[i]) : best;

		/* A name that shares nothing with the word is no match. */
		if (distance < best && distance < strlen(names[i])) {
			best = distance;
			nearest = names[i];
		}
	}
	return nearest;
}

/* The names with this beginning. */
static void list(char *buffer, size_t size, const char *lead, const char *begin,
		 const char *const *names, size_t num)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (size_t i = 0; i < num && used < size; i++)
		if (names[i] && strncmp(names[i], begin, strlen(begin)) == 0)
			used += (size_t)snprintf(buffer + used, size - used, "%s%s%s",
						 used ? ", " : "", lead, names[i]);
}

static int refuse(const char *what, const char *lead, const char *word, bool is_begin,
		  const char *const *names, size_t num, struct pdb_error *err)
{
	const char *nearest = is_begin ? NULL : suggest_nearest(word, names, num);
	char known[512];

	list(known, sizeof(known), lead, is_begin ? word : "", names, num);
	if (nearest)
		return error_set(err, ERROR_USAGE, "no %s \"%s%s\"; did you mean \"%s%s\"?", what,
				 lead, word, lead, nearest);
	if (!is_begin && num > MAX_LISTED)
		return error_set(err, ERROR_USAGE, "no %s \"%s%s\"; try \"help\"", what, lead,
				 word);
	return error_set(err, ERROR_USAGE,
			 is_begin ? "%s \"%s%s\" is ambiguous: %s"
				  : "%s \"%s%s\" is not one of: %s",
			 what, lead, word, known);
}

int suggest_find(const char *what, const char *lead, const char *word, size_t length,
		 const char *const *names, size_t num, struct pdb_error *err)
{
	size_t matches = 0;
	int found = -1;
	char *typed;

	for (size_t i = 0; i < num && length; i++) {
		if (!names[i] || strncmp(names[i], word, length) != 0)
			continue;
		if (!names[i][length])
			return (int)i;
		found = (int)i;
		matches++;
	}
	if (matches == 1)
		return found;
	typed = xstrndup(word, length);
	refuse(what, lead, typed, matches > 1, names, num, err);
	free(typed);
	return -1;
}
