/* SPDX-License-Identifier: BSD-3-Clause
 * Text on a terminal: how wide it is, how to make it fit, how to break it into lines.
 *
 * Copies are printable (utf8.h), and without Unicode what is beyond ASCII is '?', too: what is
 * measured, or is to be one line, is cleaned before the gate (gate.h) does it. A character counts
 * as one column. Copies live as long as the arena. */
#ifndef PDB_RENDER_TEXT_H
#define PDB_RENDER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/arena.h"

struct view;

/* Text by a printf() format, which lives as long as the view's arena. */
#define text_of(view, ...) arena_printf((view)->arena, __VA_ARGS__)
/* What a function prints to view->out, as text that lives so long. */
char *text_printed(const struct view *view, void (*print)(const struct view *view));
/* Columns that `text` takes on a terminal. */
size_t text_columns(const char *text);
/* A printable copy. */
char *text_clean(struct arena *arena, const char *text, bool use_unicode);
/* A printable copy of at most `width` columns, its end replaced by an ellipsis (one column in
 * Unicode, "..." else) if it had to be cut. No number is cut in two. */
const char *text_fit(struct arena *arena, const char *text, size_t width, bool use_unicode);
/* The same with the ellipsis in the middle: for labels that end with the line in the source. */
const char *text_fit_middle(struct arena *arena, const char *text, size_t width, bool use_unicode);

/* Print a paragraph: broken at blanks to view->width, the first line indented by `indent` columns,
 * all others by two more. A newline in the text begins a new line with the first indent. */
void text_wrap(const struct view *view, int indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Texts with something between them. */
struct text_list {
	struct arena *arena;
	const char *text; /* NULL: none yet */
};
void text_list_add(struct text_list *list, const char *separator, const char *more);

/* Switch a colour on or off, on view->out; nothing without view->use_color. */
enum text_color { TEXT_PLAIN, TEXT_STRONG, TEXT_CULPRIT };
void text_color(const struct view *view, enum text_color color);

#endif
