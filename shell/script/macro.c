/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/xalloc.h"
#include "shell/options/args.h"
#include "shell/script/macro.h"

bool macro_name_is_valid(const char *name)
{
	if (!isalpha((unsigned char)name[0]))
		return false;
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '-' && *p != '_')
			return false;
	return true;
}

struct macro *macro_create(const char *name)
{
	struct macro *macro = xcalloc(1, sizeof(*macro));

	macro->name = xstrdup(name);
	return macro;
}

void macro_destroy(struct macro *macro)
{
	if (!macro)
		return;
	for (size_t i = 0; i < macro->num_lines; i++)
		free(macro->lines[i]);
	free(macro->lines);
	free(macro->name);
	free(macro);
}

void macro_add_line(struct macro *macro, const char *line)
{
	*XPUSH(macro->lines, macro->num_lines, macro->capacity) = xstrdup(line);
}

void macros_set(struct macros *macros, struct macro *macro)
{
	struct macro **at = &macros->first;

	while (*at && strcmp((*at)->name, macro->name) < 0)
		at = &(*at)->next;
	if (*at && strcmp((*at)->name, macro->name) == 0) {
		struct macro *old = *at;

		*at = old->next;
		macro_destroy(old);
	}
	macro->next = *at;
	*at = macro;
}

const struct macro *macros_find(const struct macros *macros, const char *name)
{
	for (const struct macro *macro = macros->first; macro; macro = macro->next)
		if (strcmp(macro->name, name) == 0)
			return macro;
	return NULL;
}

void macros_clear(struct macros *macros)
{
	while (macros->first) {
		struct macro *macro = macros->first;

		macros->first = macro->next;
		macro_destroy(macro);
	}
}

/* Write what the variable at `p` (behind its '$') stands for; returns its length, 0 if none. */
static size_t expand_variable(FILE *out, const char *p, const struct args *args)
{
	char *end;
	unsigned long number;

	if (strncmp(p, "argc", 4) == 0 && !isalnum((unsigned char)p[4])) {
		fprintf(out, "%zu", args->num_words);
		return 4;
	}
	if (strncmp(p, "arg", 3) != 0 || !isdigit((unsigned char)p[3]))
		return 0;
	number = strtoul(p + 3, &end, 10);
	if (number < args->num_words)
		fputs(args->words[number], out);
	return end - p;
}

char *macro_expand(const char *line, const struct args *args)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return xstrdup(line);
	for (const char *p = line; *p; p++) {
		size_t length = *p == '$' ? expand_variable(out, p + 1, args) : 0;

		if (length)
			p += length;
		else
			putc(*p, out);
	}
	fclose(out);
	return text;
}
