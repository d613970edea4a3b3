/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "shell/options/option_text.h"

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '-';
}

static bool begins_option(const char *p)
{
	p += *p == '-';
	p += *p == '-';
	return p[-1] == '-' && isalpha((unsigned char)*p);
}

/* An option begins a line's text, or stands behind ", " or "; " in a line that an option begins. */
static const char *find_option(const struct option_cursor *cursor, const char *end)
{
	const char *first = cursor->line + strspn(cursor->line, " ");

	if (first == cursor->line || *first != '-')
		return NULL;
	for (const char *p = cursor->next < first ? first : cursor->next; p < end; p++)
		if ((p == first || (p[-1] == ' ' && strchr(",;", p[-2]))) && *p == '-' &&
		    begins_option(p))
			return p;
	return NULL;
}

static void copy(char *to, size_t size, const char *from, size_t length)
{
	snprintf(to, size, "%.*s", (int)length, from);
}

/* An argument is in capitals, or a choice: words with | between them. "[N]" may be left out. */
static const char *take_argument(const char *p, const char *end, struct option_text *ret)
{
	size_t length = strcspn(p, " ,;\n"), capitals = 0;
	bool is_choice = memchr(p, '|', length);

	if (p + length > end)
		length = end - p;
	while (capitals < length && isupper((unsigned char)p[capitals]))
		capitals++;
	if (*p == '[')
		return p + length;
	if (length == 0 || (!is_choice && capitals < length))
		return p;
	copy(ret->argument, sizeof(ret->argument), p, length);
	return p + length;
}

/* What is said of it, up to a semicolon; of options with a comma between them behind the last. */
static void take_what(const char *p, const char *end, struct option_text *ret)
{
	size_t length;

	while (p < end && *p == ',' && p[1] == ' ' && p[2] == '-') {
		struct option_text other = {.name = ""};

		for (p += 2; p < end && is_name(*p); p++)
			;
		p += strspn(p, " ");
		p = take_argument(p, end, &other);
	}
	p += strspn(p, " ");
	length = strcspn(p, ";\n");
	if (p < end)
		copy(ret->what, sizeof(ret->what), p, length);
}

bool option_text_next(struct option_cursor *cursor, struct option_text *ret)
{
	while (*cursor->line) {
		const char *end = cursor->line + strcspn(cursor->line, "\n");
		const char *name = find_option(cursor, end), *p = name;

		if (name) {
			*ret = (struct option_text){.name = ""};
			while (is_name(*p))
				p++;
			copy(ret->name, sizeof(ret->name), name, p - name);
			cursor->next = p;
			p += strspn(p, " ");
			take_what(take_argument(p, end, ret), end, ret);
			return true;
		}
		cursor->line = *end ? end + 1 : end;
		cursor->next = cursor->line;
	}
	return false;
}

bool option_text_find(const char *text, const char *name, struct option_text *ret)
{
	struct option_cursor cursor = {text, text};

	while (option_text_next(&cursor, ret))
		if (strcmp(ret->name, name) == 0)
			return true;
	return false;
}
