/* SPDX-License-Identifier: BSD-3-Clause
 * Text on a terminal: its width, cutting it to fit, and breaking it into lines.
 *
 * Copies are printable (utf8.h); without Unicode, characters beyond ASCII become '?', too. They are
 * cleaned here and not only at the gate (gate.h), because they are measured or must be one line. A
 * character counts as one column. Copies live as long as the arena. */
#ifndef PDB_RENDER_TEXT_H
#define PDB_RENDER_TEXT_H

#include "model/arena.h"

struct view;

/* Text by a printf() format, in the view's arena. */
#define text_of(view, ...) arena_printf((view)->arena, __VA_ARGS__)
/* What `print` writes to view->out, as text in the view's arena. */
char *text_printed(const struct view *view, void (*print)(const struct view *view));
/* Columns that `text` takes on a terminal. */
size_t text_columns(const char *text);
/* A printable copy. */
char *text_clean(struct arena *arena, const char *text, bool use_unicode);
/* A printable copy of at most `width` columns. If it is cut, its end is an ellipsis (one column in
 * Unicode, else "..."). Numbers are never cut in two. */
const char *text_fit(struct arena *arena, const char *text, size_t width, bool use_unicode);
/* The same with the ellipsis in the middle, for labels that end with a source line. */
const char *text_fit_middle(struct arena *arena, const char *text, size_t width, bool use_unicode);

/* Print a paragraph, broken at blanks to view->width. The first line is indented by `indent`
 * columns, all others by two more. A newline in the text begins a new line with the first
 * indent. */
void text_wrap(const struct view *view, int indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same behind a short lead, with all other lines below the text's first column. */
void text_wrap_behind(const struct view *view, const char *lead, const char *text);

/* A list of texts with separators. */
struct text_list {
	struct arena *arena;
	const char *text; /* NULL: none yet */
};
void text_list_add(struct text_list *list, const char *separator, const char *more);

/* Switch to a colour on view->out, TEXT_PLAIN for none; does nothing without view->use_color. */
enum text_color { TEXT_PLAIN, TEXT_STRONG, TEXT_CULPRIT };
void text_color(const struct view *view, enum text_color color);

#endif
