/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "attach/values/expression.h"

enum { MAX_DEPTH = 16 };

struct parser {
	struct arena *arena;
	const char *at;
	struct expression *expression;
};

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

static bool take(struct parser *parser, const char *text)
{
	skip_blanks(parser);
	if (strncmp(parser->at, text, strlen(text)) != 0)
		return false;
	parser->at += strlen(text);
	return true;
}

/* "n", or "a::n" where scopes may be. NULL: there is none. */
static const char *take_name(struct parser *parser, bool with_scopes)
{
	const char *begin;

	skip_blanks(parser);
	begin = parser->at;
	while (isalnum((unsigned char)*parser->at) || *parser->at == '_' || *parser->at == '$' ||
	       (with_scopes && parser->at[0] == ':' && parser->at[1] == ':' && ++parser->at))
		parser->at++;
	/* $rip and the like are gdb's own. */
	if (parser->at == begin || isdigit((unsigned char)*begin) || *begin == '$')
		return NULL;
	return arena_strndup(parser->arena, begin, (size_t)(parser->at - begin));
}

static bool take_number(struct parser *parser, int64_t *ret)
{
	char *end;

	skip_blanks(parser);
	errno = 0;
	*ret = strtoll(parser->at, &end, 0);
	if (end == parser->at || errno)
		return false;
	parser->at = end;
	return true;
}

static bool add_step(struct parser *parser, struct expression_step step)
{
	struct expression *expression = parser->expression;

	if (expression->num_steps == EXPRESSION_MAX_STEPS)
		return false;
	expression->steps[expression->num_steps++] = step;
	return true;
}

/* Fortran's x(1:3) is three elements, C's x[1:3] two. */
static bool take_index(struct parser *parser, const char *end)
{
	struct expression_step step;

	do {
		step = (struct expression_step){.kind = EXPRESSION_ELEMENT};
		step.is_all = *end == ')' && take(parser, ":");
		if (step.is_all)
			step.kind = EXPRESSION_SLICE;
		else if (!take_number(parser, &step.first))
			return false;
		if (!step.is_all && take(parser, ":")) {
			step.kind = EXPRESSION_SLICE;
			if (!take_number(parser, &step.last) || step.last == INT64_MAX)
				return false;
			step.last += *end == ')';
			if (step.last <= step.first)
				return false;
		}
		if (!add_step(parser, step))
			return false;
	} while (*end == ')' && take(parser, ","));
	return take(parser, end);
}

static bool take_member(struct parser *parser)
{
	struct expression_step step = {.kind = EXPRESSION_MEMBER, .name = take_name(parser, false)};

	return step.name && add_step(parser, step);
}

static bool take_all(struct parser *parser, unsigned int depth)
{
	if (depth == MAX_DEPTH)
		return false;
	if (take(parser, "*"))
		return take_all(parser, depth + 1) &&
		       add_step(parser, (struct expression_step){.kind = EXPRESSION_FOLLOW});
	if (take(parser, "(")) {
		if (!take_all(parser, depth + 1) || !take(parser, ")"))
			return false;
	} else {
		parser->expression->name = take_name(parser, true);
		if (!parser->expression->name)
			return false;
	}
	for (;;) {
		if (take(parser, "[")) {
			if (!take_index(parser, "]"))
				return false;
		} else if (take(parser, "(")) {
			if (!take_index(parser, ")"))
				return false;
		} else if (take(parser, "->") || take(parser, ".") || take(parser, "%")) {
			if (!take_member(parser))
				return false;
		} else {
			return true;
		}
	}
}

int expression_parse(struct arena *arena, const char *text, struct expression *ret,
		     struct pdb_error *err)
{
	struct parser parser = {arena, text, ret};

	*ret = (struct expression){.name = NULL};
	if (take_all(&parser, 0)) {
		skip_blanks(&parser);
		if (!*parser.at)
			return 0;
	}
	return error_set(err, ERROR_UNSUPPORTED,
			 "\"%s\" is more than a name, its members and its elements.\n"
			 "Of cores and snapshots, print reads n, p->x, *p, a[3], a[0:10].",
			 text);
}
