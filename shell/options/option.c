/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/options/option.h"

#include <errno.h>

#include "shell/options/args.h"
#include "shell/options/suggest.h"

enum { HELP_WIDTH = 79, HELP_COLUMN = 24 };

void option_list_free(struct option_list *list)
{
	free(list->words);
}

static int set_number(const struct option_spec *option, const char *name, const char *text,
		      unsigned int *ret, struct pdb_error *err)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (!*text || *end || errno || number < (long)option->min || number > (long)option->max)
		return error_set(err, ERROR_USAGE, "%s is a number from %u to %u, not \"%s\"", name,
				 option->min, option->max, text);
	*ret = (unsigned int)number;
	return 0;
}

/* One choice, or a set of them. */
static int set_choices(const struct option_spec *option, const char *name, const char *text,
		       unsigned int *ret, struct pdb_error *err)
{
	size_t num = 0;

	while (option->choices[num])
		num++;
	for (;;) {
		size_t length = strcspn(text, option->kind == OPTION_SET ? "," : "");
		int choice = suggest_find(name, "", text, length, option->choices, num, err);

		if (choice < 0)
			return -1;
		if (option->kind == OPTION_CHOICE)
			*ret = option->value + (unsigned int)choice;
		else
			*ret |= 1u << choice;
		if (!text[length])
			return 0;
		text += length + 1;
	}
}

static int set_time(const char *name, const char *text, double *ret, struct pdb_error *err)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}};
	double time, seconds = -1;
	char *end;

	errno = 0;
	time = strtod(text, &end);
	for (size_t i = 0; end != text && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0)
			seconds = time * units[i].seconds;
	if (errno || !(seconds >= 1 && seconds <= 1e7))
		return error_set(err, ERROR_USAGE,
				 "%s is a time of a second or more, as 90s, 5min or 1h, not \"%s\"",
				 name, text);
	*ret = seconds;
	return 0;
}

static int set_rate(const char *name, const char *text, double *ret, struct pdb_error *err)
{
	double rate;
	char *end;

	errno = 0;
	rate = strtod(text, &end);
	if (end == text || *end || errno || !(rate >= 1e-12 && rate <= 0.5))
		return error_set(err, ERROR_USAGE, "%s is a number from 1e-12 to 0.5, not \"%s\"",
				 name, text);
	*ret = rate;
	return 0;
}

void option_list_add(struct option_list *list, const struct option_spec *option, const char *text)
{
	*XPUSH(list->words, list->num, list->capacity) = (struct option_word){option, text};
}

int option_set(const struct option_table *table, const struct option_spec *option, const char *text,
	       void *ret, struct pdb_error *err)
{
	void *place = (char *)ret + option->place;
	char name[64];

	snprintf(name, sizeof(name), "%s%s", table->dashes, option->name);
	if (!text)
		text = option->otherwise;
	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)place = true;
		return 0;
	case OPTION_NUMBER:
		return set_number(option, name, text, place, err);
	case OPTION_CHOICE:
	case OPTION_SET:
		return set_choices(option, name, text, place, err);
	case OPTION_TIME:
		return set_time(name, text, place, err);
	case OPTION_RATE:
		return set_rate(name, text, place, err);
	case OPTION_LIST:
		option_list_add(place, option, text);
		return 0;
	case OPTION_FILE:
		if (!*text)
			return error_set(err, ERROR_USAGE, "%s needs the name of a file", name);
		break;
	case OPTION_PATTERN:
		if (*(const char **)place)
			return error_set(err, ERROR_USAGE, "%s is there twice", name);
		break;
	case OPTION_TEXT:
		break;
	}
	*(const char **)place = text;
	return 0;
}

void option_init(const struct option_table *table, void *ret)
{
	for (size_t i = 0; i < table->num; i++)
		if (table->options[i].initial)
			option_set(table, &table->options[i], table->options[i].initial, ret, NULL);
}

const struct option_spec *option_find(const struct option_table *table, unsigned int users,
				      const char *word, size_t length, struct pdb_error *err)
{
	size_t dashes = strspn(word, "-");
	const char **names SCOPED(free) = xcalloc(table->num, sizeof(*names));
	int found;

	for (size_t i = 0; i < table->num; i++)
		if (option_is_for(&table->options[i], users))
			names[i] = table->options[i].name;
	found = suggest_find(*table->dashes ? "option" : "setting", table->dashes, word + dashes,
			     length - dashes, names, table->num, err);
	return found < 0 ? NULL : &table->options[found];
}

char *option_argument(const struct option_spec *option)
{
	char *text;

	if (!option->choices)
		return option->argument ? xstrdup(option->argument) : NULL;
	text = xstrdup(option->choices[0]);
	for (size_t i = 1; option->choices[i]; i++) {
		char *longer = xasprintf("%s|%s", text, option->choices[i]);

		free(text);
		text = longer;
	}
	return text;
}

static int refuse_argument(const struct option_table *table, const struct option_spec *option,
			   struct pdb_error *err)
{
	char *argument SCOPED(free) = option_argument(option);

	return error_set(err, ERROR_USAGE, "%s%s takes %s", table->dashes, option->name,
			 argument ? argument : "no value");
}

/* The option whose word is at *next, with its argument. */
static int take(const struct option_table *table, unsigned int users, const struct args *args,
		size_t *next, void *ret, struct pdb_error *err)
{
	const char *word = args->words[(*next)++], *text = NULL;
	const char *more = *next < args->num_words ? args->words[*next] : NULL;
	size_t length = strcspn(word, "=");
	const struct option_spec *option = option_find(table, users, word, length, err);

	if (!option)
		return -1;
	if (word[length])
		text = word + length + 1;
	else if (more && option->kind != OPTION_FLAG &&
		 (!option->otherwise || !more[strspn(more, "0123456789")]))
		text = args->words[(*next)++];
	if (option->kind == OPTION_FLAG ? text != NULL : !text && !option->otherwise)
		return refuse_argument(table, option, err);
	return option_set(table, option, text, ret, err);
}

int option_take_all(const struct option_table *table, unsigned int users, const struct args *args,
		    void *ret, struct args *rest, struct pdb_error *err)
{
	if (rest)
		*rest = (struct args){.words = xcalloc(args->num_words + 1, sizeof(*rest->words))};
	for (size_t next = 0; next < args->num_words;) {
		char *word = args->words[next];
		bool is_option = word[0] == '-' && word[1];

		if (!is_option && !rest)
			return error_set(err, ERROR_USAGE,
					 "\"%s\" is no option; options begin with %s", word,
					 table->dashes);
		if (!is_option) {
			rest->words[rest->num_words++] = word;
			next++;
		} else if (take(table, users, args, &next, ret, err) < 0) {
			return -1;
		}
	}
	return 0;
}

/* Write the words of the text from column `at` on; later lines begin in `column`. */
static void print_words(FILE *out, const char *text, int at, int column)
{
	for (bool is_first = true; *text; is_first = false) {
		int length = (int)strcspn(text, " ");

		if (!is_first && at + 1 + length > HELP_WIDTH)
			at = fprintf(out, "\n%*s", column, "") - 1;
		else if (!is_first)
			at += fprintf(out, " ");
		at += fprintf(out, "%.*s", length, text);
		text += length + (text[length] == ' ');
	}
}

/* "-depth N". The caller frees. */
static char *heading_of(const struct option_table *table, const struct option_spec *option)
{
	char *argument SCOPED(free) = option_argument(option);
	char *heading = xasprintf("  %s%s%s%s", table->dashes, option->name, argument ? " " : "",
				  argument ? argument : "");

	return heading;
}

/* The column where explanations begin: after all headings that are not long. */
static int column_of(const struct option_table *table, unsigned int users)
{
	int column = 0;

	for (size_t i = 0; i < table->num; i++) {
		char *heading SCOPED(free) = heading_of(table, &table->options[i]);
		int length = (int)strlen(heading) + 2;

		if (option_is_for(&table->options[i], users) && length > column &&
		    length <= HELP_COLUMN)
			column = length;
	}
	return column;
}

char *option_help(const struct option_table *table, unsigned int users)
{
	int column = column_of(table, users);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	for (size_t i = 0; i < table->num; i++) {
		char *heading SCOPED(free) = heading_of(table, &table->options[i]);
		int length = (int)strlen(heading);

		length = length + 2 <= HELP_COLUMN ? column : length + 3;
		if (option_is_for(&table->options[i], users)) {
			fprintf(out, "%s%-*s", ftell(out) ? "\n" : "", length, heading);
			print_words(out, table->options[i].help, length, column);
		}
	}
	if (table->note)
		fprintf(out, "\n%s", table->note);
	fclose(out);
	return text;
}
