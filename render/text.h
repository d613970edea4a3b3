/* SPDX-License-Identifier: BSD-3-Clause
 * Text on a terminal: how wide it is, how to make it fit, how to break it into lines.
 *
 * Names come from other people's programs, so nothing of them reaches the terminal unchecked:
 * control characters (escape sequences) and broken UTF-8 are printed as '?', and without Unicode
 * everything beyond ASCII is. A character counts as one column. */
#ifndef PDB_RENDER_TEXT_H
#define PDB_RENDER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct view;

/* Bytes of the well-formed and printable character that `text` starts with; 0 if it starts with something
 * else. C1 controls (U+0080 to U+009F) are refused too: some terminals obey them. */
size_t text_character_size(const unsigned char *text);

/* Columns that `text` takes on a terminal. */
size_t text_columns(const char *text);

/* A printable copy. The caller frees. */
char *text_clean(const char *text, bool use_unicode);

/* A printable copy of at most `width` columns, its end replaced by an ellipsis (one column in
 * Unicode, "..." else) if it had to be cut. The caller frees. */
char *text_fit(const char *text, size_t width, bool use_unicode);
/* The same with the ellipsis in the middle: for labels that end with the line in the source. */
char *text_fit_middle(const char *text, size_t width, bool use_unicode);

/* Print a paragraph: broken at blanks to view->width, the first line indented by `indent` columns,
 * all others by two more. A newline in the text begins a new line with the first indent. */
void text_wrap(const struct view *view, int indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Texts with something between them; all zero at first, the caller frees text. */
struct text_list {
	char *text;
};
/* Takes `more` over. */
void text_list_add(struct text_list *list, const char *separator, char *more);

/* Switch a colour on or off; "" without view->use_color. */
enum text_color { TEXT_PLAIN, TEXT_STRONG, TEXT_CULPRIT };
const char *text_color(const struct view *view, enum text_color color);

#endif
