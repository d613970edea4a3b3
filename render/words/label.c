/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/progress/progress.h"
#include "model/job/job.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "render/words/label.h"

#define SECOND UINT64_C(1000000000)

/* ---- Ranks and times ---- */

const char *label_rank_list(struct arena *arena, const struct rankset *set, int width)
{
	static const char rest[] = ",...";
	/* A range and its comma take at least two columns, so no more than this many fit. */
	const char *text =
		arena_keep(arena, rankset_encode(set, width > 2 ? width / 2 + 1 : 1), free);
	size_t room = width > 0 ? (size_t)width : 0, length = strlen(text);
	const char *comma;

	if (length <= room)
		return text;
	while ((comma = memrchr(text, ',', length))) {
		length = (size_t)(comma - text);
		if (length + strlen(rest) <= room)
			return arena_printf(arena, "%.*s%s", (int)length, text, rest);
	}
	return "...";
}

const char *label_ranks(struct arena *arena, const struct rankset *set, int width)
{
	const char *count = arena_printf(arena, "%d", rankset_count(set));
	int room = width - (int)strlen(count) - 3;
	const char *list = label_rank_list(arena, set, room);

	return (int)strlen(list) <= room ? arena_printf(arena, "%s:[%s]", count, list) : count;
}

const char *label_who(struct arena *arena, const struct rankset *set, int width)
{
	const char *word = rankset_count(set) == 1 ? "rank" : "ranks";

	return arena_printf(arena, "%s %s", word,
			    label_rank_list(arena, set, width - (int)strlen(word) - 1));
}

struct label_time label_time(uint64_t ns)
{
	/* Times from `least` ns on, in units of two sizes. */
	static const struct {
		uint64_t least, unit, part, parts;
		const char *format;
	} forms[] = {
		{86400 * SECOND, 86400 * SECOND, 3600 * SECOND, 24, "%" PRIu64 " d %" PRIu64 " h"},
		{3600 * SECOND, 3600 * SECOND, 60 * SECOND, 60, "%" PRIu64 " h %" PRIu64 " min"},
		{120 * SECOND, 60 * SECOND, SECOND, 60, "%" PRIu64 " min %" PRIu64 " s"},
		{10 * SECOND, SECOND, 1, 1, "%" PRIu64 " s"},
		{SECOND, SECOND, SECOND / 10, 10, "%" PRIu64 ".%" PRIu64 " s"},
		{10000000, 1000000, 1, 1, "%" PRIu64 " ms"},
		{1000000, 1000000, 100000, 10, "%" PRIu64 ".%" PRIu64 " ms"},
		{1000, 1000, 1, 1, "%" PRIu64 " us"},
		{0, 1, 1, 1, "%" PRIu64 " ns"},
	};
	struct label_time time;
	size_t f = 0;

	while (ns < forms[f].least)
		f++;
	snprintf(time.text, sizeof(time.text), forms[f].format, ns / forms[f].unit,
		 ns / forms[f].part % forms[f].parts);
	return time;
}

const char *label_time_range(struct arena *arena, uint64_t min_ns, uint64_t max_ns)
{
	struct label_time min = label_time(min_ns), max = label_time(max_ns);
	const char *min_unit = strchr(min.text, ' ');

	if (!strcmp(min.text, max.text))
		return arena_strdup(arena, max.text);
	return arena_printf(arena, "%.*s to %s",
			    (int)(strcmp(min_unit, strchr(max.text, ' '))
					  ? strlen(min.text)
					  : (size_t)(min_unit - min.text)),
			    min.text, max.text);
}

const char *label_tag(struct arena *arena, int32_t tag)
{
	switch (tag) {
	case SEG_TAG_ANY:
		return "any";
	case SEG_TAG_MANY:
		return "others";
	case SEG_TAG_POST:
		return "post";
	case SEG_TAG_COMPLETE:
		return "complete";
	case SEG_TAG_LEADER:
		return "leader";
	case SEG_TAG_GROUP:
		return "group";
	}
	return arena_printf(arena, "%" PRId32, tag);
}

const char *label_iteration(struct arena *arena, const struct iteration *iteration)
{
	return arena_printf(arena, "%s%" PRIu64, iteration->is_approximate ? "about " : "",
			    iteration->count);
}

/* ---- Functions ---- */

/* The character after the bracket that closes the one at `at`. */
static const char *skip_brackets(const char *at)
{
	char open = *at, close = open == '<' ? '>' : ')';
	int depth = 0;

	for (; *at; at++) {
		if (*at == open)
			depth++;
		else if (*at == close && !(close == '>' && at[-1] == '-') && --depth == 0)
			return at + 1;
	}
	return at;
}

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Length of Python's name for a function without a name, "<module>", "solve.<lambda>"; or 0. */
static size_t nameless(const char *function, const char *at)
{
	const char *end;

	if (*at != '<' || (at != function && at[-1] != '.'))
		return 0;
	end = skip_brackets(at);
	return end[-1] == '>' && (!*end || *end == '.') ? (size_t)(end - at) : 0;
}

/* Copy "operator" and its symbol, which may consist of brackets: operator(), operator<<. */
static const char *copy_operator(const char *at, char **end)
{
	const char *from = at;

	at += strlen("operator");
	if (starts_with(at, "()"))
		at += 2;
	else if (*at == ' ')
		at += strcspn(at, "("); /* a conversion: operator unsigned long */
	else
		at += strcspn(at, " (abcdefghijklmnopqrstuvwxyz_");
	memcpy(*end, from, (size_t)(at - from));
	*end += at - from;
	return at;
}

const char *label_function(struct arena *arena, const char *function)
{
	static const char anonymous[] = "(anonymous namespace)";
	char *label = arena_alloc(arena, strlen(function) + 1), *end = label;
	const char *at = function;
	bool had_parameters = false;
	size_t length;

	while (*at) {
		if (starts_with(at, anonymous)) {
			end = stpcpy(end, anonymous);
			at += strlen(anonymous);
		} else if (starts_with(at, "operator") && !is_word(at[strlen("operator")]) &&
			   (at == function || !is_word(at[-1]))) {
			at = copy_operator(at, &end);
		} else if ((length = nameless(function, at))) {
			end = mempcpy(end, at, length);
			at += length;
		} else if (*at == '<' || *at == '(') {
			had_parameters |= *at == '(';
			at = skip_brackets(at);
		} else if (starts_with(at, " <")) {
			at++; /* operator< <int> */
		} else if (*at == ' ' && had_parameters) {
			break; /* " const", " [clone .cold]" */
		} else if (*at == ' ') {
			end = label; /* the text before was the return type */
			at++;
		} else {
			if (*at == ':')
				had_parameters = false; /* parameters of an enclosing function */
			*end++ = *at++;
		}
	}
	*end = '\0';
	if (end == label)
		strcpy(label, function);
	return label;
}
