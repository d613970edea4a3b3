/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "model/rankset.h"
#include "model/xalloc.h"
#include "shell/args.h"
#include "shell/suggest.h"

/* Copy one word from *text to `out`, quotes removed, and move *text behind it. -1: open quote. */
static int copy_word(const char **text, char *out)
{
	const char *p = *text;
	char quote = '\0';

	for (; *p; p++) {
		if (!quote && isblank((unsigned char)*p))
			break;
		if (!quote && (*p == '\'' || *p == '"')) {
			quote = *p;
		} else if (quote && *p == quote) {
			quote = '\0';
		} else if (*p == '\\' && p[1] &&
			   (!quote || (quote == '"' && (p[1] == '"' || p[1] == '\\')))) {
			*out++ = *++p;
		} else {
			*out++ = *p;
		}
	}
	*out = '\0';
	*text = p;
	return quote ? -1 : 0;
}

int args_parse(const char *text, struct args **args_ret, struct pdb_error *err)
{
	struct args *args = xcalloc(1, sizeof(*args));
	char *word = xmalloc(strlen(text) + 1);
	size_t capacity = 0;
	const char *p = text;

	args->rest = text;
	for (;;) {
		while (isblank((unsigned char)*p))
			p++;
		if (!*p || *p == '#')
			break;
		if (copy_word(&p, word) < 0) {
			free(word);
			args_destroy(args);
			return error_set(err, ERROR_USAGE, "a quote is left open in: %s", text);
		}
		args->words = xgrow(args->words, args->num_words, &capacity, sizeof(char *));
		args->words[args->num_words++] = xstrdup(word);
	}
	free(word);
	*args_ret = args;
	return 0;
}

void args_destroy(struct args *args)
{
	if (!args)
		return;
	for (size_t i = 0; i < args->num_words; i++)
		free(args->words[i]);
	free(args->words);
	free(args);
}

/* Names that are followed by a word of their own. */
static bool takes_argument(const char *name)
{
	return strcmp(name, "group") == 0 || strcmp(name, "host") == 0;
}

int args_take_ranks(const struct args *args, size_t *next, const struct rank_names *names,
		    struct rankset **ret, struct pdb_error *err)
{
	const char *word, *argument = NULL;
	size_t used = 1;

	if (*next >= args->num_words)
		return error_set(err, ERROR_USAGE,
				 "ranks are missing: 0,3-5, all, lp, group N or host NAME");
	word = args->words[*next];
	if (isdigit((unsigned char)word[0])) {
		if (rankset_decode(word, names->size, ret, err) < 0)
			return -1;
		*next += used;
		return 0;
	}
	if (strcmp(word, "all") == 0) {
		if (rankset_is_empty(names->all))
			return error_set(err, ERROR_NOT_FOUND, "there are no ranks");
		*ret = rankset_copy(names->all);
		*next += used;
		return 0;
	}
	if (takes_argument(word)) {
		if (*next + 1 >= args->num_words)
			return error_set(err, ERROR_USAGE, "\"%s\" needs a word after it", word);
		argument = args->words[*next + 1];
		used = 2;
	} else if (strcmp(word, "lp") != 0) {
		return error_set(err, ERROR_USAGE,
				 "\"%s\" is no list of ranks: 0,3-5, all, lp, group N or host NAME",
				 word);
	}
	if (names->find(names->context, word, argument, ret, err) < 0)
		return -1;
	*next += used;
	return 0;
}

int args_take_number(const struct args *args, size_t *next, const char *what, long min, long max,
		     long *ret, struct pdb_error *err)
{
	const char *word;
	char *end;
	long value;

	if (*next >= args->num_words)
		return error_set(err, ERROR_USAGE, "the %s is missing", what);
	word = args->words[*next];
	errno = 0;
	value = strtol(word, &end, 10);
	if (!*word || *end || errno || value < min || value > max)
		return error_set(err, ERROR_USAGE, "%s \"%s\" is not a number from %ld to %ld",
				 what, word, min, max);
	*ret = value;
	(*next)++;
	return 0;
}

int args_find_option(const char *word, const char *const *names, size_t num, struct pdb_error *err)
{
	const char *name = word + strspn(word, "-"), *nearest;
	char candidates[256] = "";
	int found = -1, matches = 0;

	for (size_t i = 0; i < num; i++) {
		if (!names[i] || strncmp(names[i], name, strlen(name)) != 0)
			continue;
		if (strcmp(names[i], name) == 0)
			return (int)i;
		snprintf(candidates + strlen(candidates), sizeof(candidates) - strlen(candidates),
			 "%s-%s", matches ? ", " : "", names[i]);
		found = (int)i;
		matches++;
	}
	if (matches == 1)
		return found;
	if (matches)
		return error_set(err, ERROR_USAGE, "option \"%s\" is ambiguous: %s", word,
				 candidates);
	nearest = suggest_nearest(name, names, num);
	if (nearest)
		return error_set(err, ERROR_USAGE, "no option \"%s\"; did you mean \"-%s\"?", word,
				 nearest);
	return error_set(err, ERROR_USAGE, "no option \"%s\"; see help", word);
}

char *args_join(const struct args *args, size_t next)
{
	char *text = xstrdup(next < args->num_words ? args->words[next] : "");

	while (++next < args->num_words) {
		char *longer = xasprintf("%s %s", text, args->words[next]);

		free(text);
		text = longer;
	}
	return text;
}

int args_compile(const char *word, int flags, regex_t *ret, struct pdb_error *err)
{
	int code = regcomp(ret, word, REG_EXTENDED | REG_NOSUB | flags);
	char why[200];

	if (!code)
		return 0;
	regerror(code, ret, why, sizeof(why));
	return error_set(err, ERROR_USAGE, "regular expression \"%s\": %s", word, why);
}

int args_end(const struct args *args, size_t next, struct pdb_error *err)
{
	if (next < args->num_words)
		return error_set(err, ERROR_USAGE, "\"%s\" is one word too many",
				 args->words[next]);
	return 0;
}
