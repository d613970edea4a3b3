/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/text/gate.h"
#include "render/text/html.h"
#include "render/text/text.h"
#include "render/text/utf8.h"
#include "render/view.h"

/* Least widths of a paragraph's lines, however deep the indent: in all, and of text. */
enum { LEAST_WIDTH = 40, LEAST_TEXT = 12 };

char *text_printed(const struct view *view, void (*print)(const struct view *view))
{
	struct view into = *view;
	char *text;
	size_t size;

	into.out = open_memstream(&text, &size);
	if (!into.out)
		abort();
	print(&into);
	fclose(into.out);
	return arena_keep(view->arena, text, free);
}

size_t text_columns(const char *text)
{
	size_t columns = 0;
	uint32_t code;

	for (; *text; columns++)
		text += utf8_next(text, &code);
	return columns;
}

char *text_clean(struct arena *arena, const char *text, bool use_unicode)
{
	char *clean = arena_alloc(arena, strlen(text) + 1), *end = clean;

	while (*text) {
		uint32_t code;
		size_t size = utf8_next(text, &code);

		if (utf8_is_printable(code) && (size == 1 || use_unicode))
			end = mempcpy(end, text, size);
		else
			*end++ = '?';
		text += size;
	}
	return clean;
}

/* The bytes of the first `columns`. */
static size_t size_of(const char *text, size_t columns)
{
	const char *end = text;
	uint32_t code;

	while (*end && columns-- > 0)
		end += utf8_next(end, &code);
	return (size_t)(end - text);
}

static bool is_digit_at(const char *text, size_t at)
{
	return text[at] >= '0' && text[at] <= '9';
}

/* How much of the first `size` bytes to keep so that no number is cut: a part of a number is
 * another number. */
static size_t head_size(const char *clean, size_t size)
{
	if (!is_digit_at(clean, size))
		return size;
	while (size > 0 && is_digit_at(clean, size - 1))
		size--;
	return size;
}

/* The same for the end, which begins at `start`. */
static size_t tail_start(const char *clean, size_t start)
{
	if (start == 0 || !is_digit_at(clean, start - 1))
		return start;
	return start + strspn(clean + start, "0123456789");
}

/* At most `head` and `tail` columns of the text with an ellipsis between. The text has more columns
 * than these. */
static const char *cut(struct arena *arena, const char *clean, size_t head, size_t tail,
		       bool use_unicode)
{
	return arena_printf(arena, "%.*s%s%s", (int)head_size(clean, size_of(clean, head)), clean,
			    use_unicode ? "\u2026" : "...",
			    clean + tail_start(clean, size_of(clean, text_columns(clean) - tail)));
}

const char *text_fit(struct arena *arena, const char *text, size_t width, bool use_unicode)
{
	size_t ellipsis = use_unicode ? 1 : 3;
	char *clean = text_clean(arena, text, use_unicode);

	if (text_columns(clean) <= width)
		return clean;
	if (width > ellipsis)
		return cut(arena, clean, width - ellipsis, 0, use_unicode);
	clean[head_size(clean, size_of(clean, width))] = '\0';
	return clean;
}

const char *text_fit_middle(struct arena *arena, const char *text, size_t width, bool use_unicode)
{
	size_t ellipsis = use_unicode ? 1 : 3, head;
	const char *clean;

	/* Too narrow for useful parts of both ends. */
	if (width < ellipsis + 12)
		return text_fit(arena, text, width, use_unicode);
	clean = text_clean(arena, text, use_unicode);
	if (text_columns(clean) <= width)
		return clean;
	head = (width - ellipsis) / 2;
	return cut(arena, clean, head, width - ellipsis - head, use_unicode);
}

/* Does a unit of time begin here? Then the number before it stays on the same line. */
static bool is_unit(const char *text)
{
	static const char *const units[] = {"ns", "us", "ms", "s", "min", "h", "d"};
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i]) == length && !strncmp(text, units[i], length))
			return true;
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

/* Returns the column. */
static size_t begin_line(const struct view *view, size_t indent, size_t width)
{
	size_t margin = indent + LEAST_TEXT > width ? width - LEAST_TEXT : indent;

	fprintf(view->out, "%*s", (int)margin, "");
	return margin;
}

/* Print one line of a paragraph, broken where it has to be: behind `lead`, of `indent` columns
 * (NULL: blanks), and what is broken off behind `rest` blanks. */
static void wrap_line(const struct view *view, struct arena *scratch, const char *lead,
		      size_t indent, size_t rest, const char *line)
{
	size_t width = view->width > LEAST_WIDTH ? (size_t)view->width : LEAST_WIDTH;
	size_t column = lead ? indent : begin_line(view, indent, width), length;
	bool is_empty = true; /* nothing on this line yet but the margin */

	if (lead)
		fputs(lead, view->out);
	for (; *line; line += length + strspn(line + length, " ")) {
		const char *word;

		length = piece_length(line);
		word = arena_strndup(scratch, line, length);
		if (!is_empty && column + 1 + text_columns(word) > width) {
			fputc('\n', view->out);
			column = begin_line(view, rest, width);
			is_empty = true;
		}
		if (!is_empty)
			column += (size_t)fprintf(view->out, " ");
		/* A word longer than the line is broken inside. */
		while (column + text_columns(word) > width) {
			size_t size = size_of(word, width - column);

			fprintf(view->out, "%.*s\n", (int)size, word);
			column = begin_line(view, rest, width);
			word += size;
		}
		fputs(word, view->out);
		column += text_columns(word);
		is_empty = false;
	}
	fputc('\n', view->out);
}

void text_wrap(const struct view *view, int indent, const char *format, ...)
{
	struct arena *scratch SCOPED(arena) = arena_create();
	char *text, *line, *rest;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		abort();
	va_end(ap);
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		const char *clean = text_clean(scratch, line, view->use_unicode);

		if (view->is_html)
			html_paragraph(view, indent, clean);
		else
			wrap_line(view, scratch, NULL, (size_t)indent, (size_t)indent + 2, clean);
	}
	free(text);
}

void text_wrap_behind(const struct view *view, const char *lead, const char *text)
{
	struct arena *scratch SCOPED(arena) = arena_create();
	char *rest = arena_strndup(scratch, text, strlen(text)), *line;
	size_t indent = text_columns(lead);

	for (; (line = strsep(&rest, "\n")); lead = NULL)
		wrap_line(view, scratch, lead, indent, indent,
			  text_clean(scratch, line, view->use_unicode));
}

void text_list_add(struct text_list *list, const char *separator, const char *more)
{
	list->text = list->text ? arena_printf(list->arena, "%s%s%s", list->text,
					       *list->text ? separator : "", more)
				: more;
}

void text_color(const struct view *view, enum text_color color)
{
	static const char *const codes[] = {
		[TEXT_PLAIN] = "0", [TEXT_STRONG] = "1", [TEXT_CULPRIT] = "1;31"};

	if (view->use_color)
		gate_color(view->out, "%s", codes[color]);
}
