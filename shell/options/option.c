/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/options/option.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "model/xalloc.h"
#include "shell/options/args.h"

/* Of those that the command takes. */
static const struct option *find_option(const struct option *table, size_t num, unsigned int groups,
					const char *word, struct pdb_error *err)
{
	const char **names = xcalloc(num, sizeof(*names));
	int found;

	for (size_t i = 0; i < num; i++)
		if (!table[i].group || table[i].group & groups)
			names[i] = table[i].name;
	found = args_find_option(word, names, num, err);
	free(names);
	return found < 0 ? NULL : &table[found];
}

/* The number of the choice that begins so; -1: none, or several. */
static int find_choice(const struct option *option, const char *text, size_t length,
		       struct pdb_error *err)
{
	char known[128] = "";
	int found = -1;

	for (int i = 0; option->choices[i] && length > 0; i++) {
		if (strncmp(option->choices[i], text, length) != 0)
			continue;
		if (found >= 0)
			return error_set(err, ERROR_USAGE, "-%s: \"%.*s\" is ambiguous: %s, %s",
					 option->name, (int)length, text, option->choices[found],
					 option->choices[i]);
		found = i;
	}
	if (found >= 0)
		return found;
	for (int i = 0; option->choices[i]; i++)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 i > 0 ? ", " : "", option->choices[i]);
	return error_set(err, ERROR_USAGE, "-%s: no \"%.*s\": %s", option->name, (int)length, text,
			 known);
}

/* One choice, or a set of them. */
static int take_choices(const struct option *option, const char *word, unsigned int *ret,
			struct pdb_error *err)
{
	bool is_set = option->kind == OPTION_SET;

	for (;;) {
		size_t length = is_set ? strcspn(word, ",") : strlen(word);
		int choice = find_choice(option, word, length, err);

		if (choice < 0)
			return -1;
		*ret = is_set ? *ret | option->value << choice : (unsigned int)choice;
		if (!word[length])
			return 0;
		word += length + 1;
	}
}

static int take(void *ret, const struct option *option, const struct args *args, size_t *next,
		struct pdb_error *err)
{
	const char *typed = args->words[(*next)++];
	char *place = (char *)ret + option->place;
	long number;

	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)place = true;
		return 0;
	case OPTION_NUMBER:
		if (args_take_number(args, next, option->name, 1, option->max, &number, err) < 0)
			return -1;
		*(unsigned int *)place = (unsigned int)number;
		return 0;
	case OPTION_OTHER:
		return option->take(ret, option, typed, args, next, err);
	default:
		if (*next >= args->num_words)
			return error_set(err, ERROR_USAGE, "something is missing after \"-%s\"",
					 option->name);
		return take_choices(option, args->words[(*next)++], (unsigned int *)place, err);
	}
}

int option_take_all(const struct option *table, size_t num, unsigned int groups,
		    const struct args *args, void *ret, struct args *rest, struct pdb_error *err)
{
	*rest = (struct args){.words = xcalloc(args->num_words + 1, sizeof(*rest->words))};
	for (size_t next = 0; next < args->num_words;) {
		const struct option *option;

		if (args->words[next][0] != '-' || !args->words[next][1]) {
			rest->words[rest->num_words++] = args->words[next++];
			continue;
		}
		option = find_option(table, num, groups, args->words[next], err);
		if (!option || take(ret, option, args, &next, err) < 0)
			return -1;
	}
	return 0;
}
