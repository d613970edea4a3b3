/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/xalloc.h"
#include "render/gate.h"
#include "render/html.h"
#include "render/text.h"
#include "render/view.h"

size_t text_character(const unsigned char *text, uint32_t *code_ret)
{
	/* The least that is not written shorter, by the number of bytes. */
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t size = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	uint32_t code = text[0] & (0x7f >> size);

	if (text[0] < 0x80) {
		*code_ret = text[0];
		return 1;
	}
	if (text[0] < 0xc0 || text[0] >= 0xf8)
		size = 0;
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80) {
			size = 0;
			break;
		}
		code = code << 6 | (text[i] & 0x3f);
	}
	/* Nor are halves of surrogate pairs characters, nor what is beyond the last. */
	if (!size || code < least[size] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) {
		*code_ret = TEXT_BROKEN;
		return 1;
	}
	*code_ret = code;
	return size;
}

bool text_is_printable(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},
		{0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
		{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}, {0x110000, TEXT_BROKEN},
	};

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]) && code >= hidden[i].first; i++)
		if (code <= hidden[i].last)
			return false;
	return true;
}

size_t text_columns(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t columns = 0;

	uint32_t code;

	for (; *at; columns++)
		at += text_character(at, &code);
	return columns;
}

char *text_clean(const char *text, bool use_unicode)
{
	const unsigned char *at = (const unsigned char *)text;
	char *clean = xmalloc(strlen(text) + 1), *end = clean;

	while (*at) {
		uint32_t code;
		size_t size = text_character(at, &code);

		if (text_is_printable(code) && (size == 1 || use_unicode)) {
			memcpy(end, at, size);
			end += size;
		} else {
			*end++ = '?';
		}
		at += size;
	}
	*end = '\0';
	return clean;
}

/* Where the character after the first `columns` begins. */
static char *skip_columns(char *text, size_t columns)
{
	uint32_t code;

	while (*text && columns-- > 0)
		text += text_character((unsigned char *)text, &code);
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

void text_color(const struct view *view, enum text_color color)
{
	static const char *const codes[] = {
		[TEXT_PLAIN] = "0",
		[TEXT_STRONG] = "1",
		[TEXT_CULPRIT] = "1;31",
	};

	if (view->use_color)
		gate_color(view->out, "%s", codes[color]);
}
