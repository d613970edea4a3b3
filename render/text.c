/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/xalloc.h"
#include "render/html.h"
#include "render/text.h"
#include "render/view.h"

size_t text_character_size(const unsigned char *text)
{
	size_t size, i;

	if (text[0] < 0x80)
		return text[0] >= 0x20 && text[0] != 0x7f;
	if (text[0] >= 0xc2 && text[0] <= 0xdf)
		size = 2;
	else if (text[0] >= 0xe0 && text[0] <= 0xef)
		size = 3;
	else if (text[0] >= 0xf0 && text[0] <= 0xf4)
		size = 4;
	else
		return 0;
	for (i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	}
	if (text[0] == 0xc2 && text[1] < 0xa0)
		return 0;
	/* Written longer than need be, halves of surrogate pairs, beyond the last character. */
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return size;
}

size_t text_columns(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t columns = 0;

	while (*at) {
		size_t size = text_character_size(at);

		at += size ? size : 1;
		columns++;
	}
	return columns;
}

char *text_clean(const char *text, bool use_unicode)
{
	const unsigned char *at = (const unsigned char *)text;
	char *clean = xmalloc(strlen(text) + 1), *end = clean;

	while (*at) {
		size_t size = text_character_size(at);

		if (size == 1 || (size > 1 && use_unicode)) {
			memcpy(end, at, size);
			end += size;
		} else {
			*end++ = '?';
		}
		at += size ? size : 1;
	}
	*end = '\0';
	return clean;
}

/* Where the character after the first `columns` begins. */
static char *skip_columns(char *text, size_t columns)
{
	while (*text && columns-- > 0) {
		size_t size = text_character_size((unsigned char *)text);

		text += size ? size : 1;
	}
	return text;
}

char *text_fit(const char *text, size_t width, bool use_unicode)
{
	const char *ellipsis = use_unicode ? "\u2026" : "...";
	size_t ellipsis_columns = use_unicode ? 1 : 3;
	char *clean = text_clean(text, use_unicode), *fit;

	if (text_columns(clean) <= width)
		return clean;
	if (width <= ellipsis_columns) {
		*skip_columns(clean, width) = '\0';
		return clean;
	}
	*skip_columns(clean, width - ellipsis_columns) = '\0';
	fit = xasprintf("%s%s", clean, ellipsis);
	free(clean);
	return fit;
}

char *text_fit_middle(const char *text, size_t width, bool use_unicode)
{
	const char *ellipsis = use_unicode ? "\u2026" : "...";
	size_t ellipsis_columns = use_unicode ? 1 : 3, columns, head, tail;
	char *clean, *fit;

	/* Too narrow for a part of either end that says something. */
	if (width < ellipsis_columns + 12)
		return text_fit(text, width, use_unicode);
	clean = text_clean(text, use_unicode);
	columns = text_columns(clean);
	if (columns <= width)
		return clean;
	head = (width - ellipsis_columns) / 2;
	tail = width - ellipsis_columns - head;
	fit = xasprintf("%.*s%s%s", (int)(skip_columns(clean, head) - clean), clean, ellipsis,
			skip_columns(clean, columns - tail));
	free(clean);
	return fit;
}

/* Does a unit of time begin here? Then the number before it stays on the same line. */
static bool is_unit(const char *text)
{
	static const char *const units[] = {"ns", "us", "ms", "s", "min", "h", "d"};
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i]) == length && !strncmp(text, units[i], length))
			return true;
	}
	return false;
}

/* Length of the next piece that is not broken: a word, or a number with its unit. */
static size_t piece_length(const char *text)
{
	size_t length = strcspn(text, " ");

	if (length > 0 && text[length] == ' ' && text[length - 1] >= '0' &&
	    text[length - 1] <= '9' && is_unit(text + length + 1))
		length += 1 + strcspn(text + length + 1, " ");
	return length;
}

/* Print one line of a paragraph, broken where it has to be. */
static void wrap_line(const struct view *view, size_t indent, char *line)
{
	size_t width = view->width > 40 ? (size_t)view->width : 40;
	size_t column = 0, margin = indent;
	bool is_empty = true; /* nothing on this line yet but the margin */
	char *word = line;

	if (margin + 12 > width)
		margin = width - 12;
	fprintf(view->out, "%*s", (int)margin, "");
	column = margin;
	while (*word) {
		size_t length = piece_length(word), columns;
		char *next = word + length + strspn(word + length, " "), *cut;
		char saved = word[length];

		word[length] = '\0';
		columns = text_columns(word);
		if (!is_empty && column + 1 + columns > width) {
			margin = indent + 2 + 12 > width ? width - 12 : indent + 2;
			fprintf(view->out, "\n%*s", (int)margin, "");
			column = margin;
			is_empty = true;
		}
		if (!is_empty)
			column += (size_t)fprintf(view->out, " ");
		/* A word longer than the line is broken inside. */
		while (column + columns > width) {
			cut = skip_columns(word, width - column);
			fprintf(view->out, "%.*s\n", (int)(cut - word), word);
			margin = indent + 2 + 12 > width ? width - 12 : indent + 2;
			fprintf(view->out, "%*s", (int)margin, "");
			column = margin;
			word = cut;
			columns = text_columns(word);
		}
		fputs(word, view->out);
		column += columns;
		is_empty = false;
		word[strlen(word)] = saved;
		word = next;
	}
	fputc('\n', view->out);
}

void text_wrap(const struct view *view, int indent, const char *format, ...)
{
	char *text = NULL, *line, *rest;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		char *clean = text_clean(line, view->use_unicode);

		if (view->is_html)
			html_paragraph(view, indent, clean);
		else
			wrap_line(view, (size_t)indent, clean);
		free(clean);
	}
	free(text);
}

void text_list_add(struct text_list *list, const char *separator, char *more)
{
	char *longer = xasprintf("%s%s%s", list->text ? list->text : "",
				 list->text && *list->text ? separator : "", more);

	free(list->text);
	free(more);
	list->text = longer;
}

const char *text_color(const struct view *view, enum text_color color)
{
	static const char *const codes[] = {
		[TEXT_PLAIN] = "\033[0m",
		[TEXT_STRONG] = "\033[1m",
		[TEXT_CULPRIT] = "\033[1;31m",
	};

	return view->use_color ? codes[color] : "";
}
