/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "shell/options/args.h"

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
	size_t capacity = 0;
	const char *p = text;
	char *to;

	args->rest = text;
	to = args->text = xmalloc(2 * strlen(text) + 1);
	for (;;) {
		p += strspn(p, " \t");
		if (!*p || *p == '#')
			break;
		*XPUSH(args->words, args->num_words, capacity) = to;
		if (copy_word(&p, to) < 0) {
			args_destroy(args);
			return error_set(err, ERROR_USAGE, "a closing quote is missing in: %s",
					 text);
		}
		to += strlen(to) + 1;
	}
	*args_ret = args;
	return 0;
}

void args_destroy(struct args *args)
{
	if (!args)
		return;
	free(args->text);
	free(args->words);
	free(args);
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

/* The C library expands repetitions: each copy costs memory, and time at every character. So
 * "((a+)+)+" has 8 copies and "(a{1,100}){1,100}" 10,000. Back references have no bound at all. */

enum { MAX_EXPRESSION = 1000, MAX_COPIES = 1000, MAX_NESTED = 100 };

/* The end of the bracket expression that begins here. */
static const char *skip_bracket(const char *at)
{
	at++;
	at += *at == '^';
	at += *at == ']';
	while (*at && *at != ']') {
		char kind = at[0] == '[' ? at[1] : '\0';

		if (kind == ':' || kind == '.' || kind == '=') {
			const char end[] = {kind, ']', '\0'}, *found = strstr(at + 2, end);

			at = found ? found + 1 : at;
		}
		at++;
	}
	return at + (*at == ']');
}

/* How many copies of the preceding part the repetition makes; *at moves past the repetition, if
 * any. */
static uint64_t take_repetition(const char **at)
{
	unsigned long least, most;
	char *end;

	if (**at == '*' || **at == '?' || **at == '+')
		return *(*at)++ == '+' ? 2 : 1;
	if (**at != '{')
		return 1;
	least = strtoul(*at + 1, &end, 10);
	most = *end == ',' ? strtoul(end + 1, &end, 10) : least;
	if (*end != '}')
		return 1;
	*at = end + 1;
	/* regcomp() refuses more than 32,767. */
	return least >= most ? least + 1 : most;
}

/* Number of characters and sets after expansion; more than MAX_COPIES if there are too many. */
static uint64_t count_copies(const char *at)
{
	uint64_t sums[MAX_NESTED] = {0},
		 last = 0; /* of the current parenthesis, before its last part */
	size_t depth = 0;

	while (*at) {
		const char *before = at;
		uint64_t times;

		sums[depth] += last;
		last = 0;
		if (*at == '(' && depth + 1 == MAX_NESTED) {
			return MAX_COPIES + 1;
		} else if (*at == '(') {
			sums[++depth] = 1;
			at++;
			continue;
		} else if (*at == ')' && depth > 0) {
			last = sums[depth--];
			at++;
		} else if (*at == '[') {
			at = skip_bracket(at);
			last = 1;
		} else {
			if (at[0] == '\\' && at[1])
				at++;
			at++;
			last = 1;
		}
		while (*at && (before = at, times = take_repetition(&at), at > before))
			last *= times <= MAX_COPIES && last <= MAX_COPIES ? times : MAX_COPIES + 1;
		if (sums[depth] + last > MAX_COPIES)
			return MAX_COPIES + 1;
	}
	for (size_t i = 0; i <= depth; i++)
		last += sums[i];
	return last;
}

static bool has_reference(const char *at)
{
	for (; *at; at++) {
		if (*at == '[')
			at = skip_bracket(at) - 1;
		else if (*at == '\\' && *++at >= '1' && *at <= '9')
			return true;
		if (!*at)
			break;
	}
	return false;
}

int args_compile(const char *word, int flags, regex_t *ret, struct pdb_error *err)
{
	const char *wrong = has_reference(word) ? "it has a back reference, such as \\1"
			    : strlen(word) > MAX_EXPRESSION || count_copies(word) > MAX_COPIES
				    ? "it has more than a thousand parts, all repetitions counted"
				    : NULL;
	int code = wrong ? 0 : regcomp(ret, word, REG_EXTENDED | REG_NOSUB | flags);
	char why[200];

	if (wrong)
		return error_set(err, ERROR_USAGE,
				 "regular expression \"%.60s%s\": %s; use a simpler one", word,
				 strlen(word) > 60 ? "..." : "", wrong);
	if (!code)
		return 0;
	regerror(code, ret, why, sizeof(why));
	return error_set(err, ERROR_USAGE, "regular expression \"%s\": %s", word, why);
}

static void end_expression(void *expression)
{
	regfree(expression);
}

const regex_t *args_compile_in(struct arena *arena, const char *word, struct pdb_error *err)
{
	regex_t *expression = arena_alloc(arena, sizeof(*expression));

	if (args_compile(word, 0, expression, err) < 0)
		return NULL;
	return arena_keep(arena, expression, end_expression);
}

int args_end(const struct args *args, size_t next, struct pdb_error *err)
{
	if (next < args->num_words)
		return error_set(err, ERROR_USAGE, "\"%s\" is one word too many",
				 args->words[next]);
	return 0;
}
