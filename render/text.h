/* SPDX-License-Identifier: BSD-3-Clause
 * Text on a terminal: how wide it is, how to make it fit, how to break it into lines.
 *
 * Names come from other people's programs. What a terminal would obey, what hides and what turns
 * the direction of reading is not printable, nor is broken UTF-8: it becomes '?', as without
 * Unicode all beyond ASCII does. text_character() says what is printable, for everybody. The gate
 * (gate.h) keeps all else off terminals; what is cleaned here is cleaned because it is measured, or
 * to be one line. A character counts as one column. */
#ifndef PDB_RENDER_TEXT_H
#define PDB_RENDER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct view;

/* Bytes of the character that `text` starts with, which is not empty; 1 for a byte that starts none
 * in UTF-8. *code_ret: its number in Unicode, TEXT_BROKEN for such a byte. */
size_t text_character(const unsigned char *text, uint32_t *code_ret);
#define TEXT_BROKEN UINT32_MAX
/* Not control characters, C1 among them, those without width, and those that turn the direction. */
bool text_is_printable(uint32_t code);

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

/* Switch a colour on or off, on view->out; nothing without view->use_color. */
enum text_color { TEXT_PLAIN, TEXT_STRONG, TEXT_CULPRIT };
void text_color(const struct view *view, enum text_color color);

#endif
