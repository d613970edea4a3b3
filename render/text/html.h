/* SPDX-License-Identifier: BSD-3-Clause
 * HTML: what views print if view->is_html, and the pieces of a report. Names come from other
 * people's programs, so all text goes through html_text(). Style attributes are not used: the
 * page's security policy refuses them. */
#ifndef PDB_RENDER_HTML_H
#define PDB_RENDER_HTML_H

#include "model/std.h"

struct view;

/* Write the text of an element or an attribute. Markup is escaped; characters that are not
 * printable become '?'. */
void html_text(FILE *out, const char *text);
/* Write markup as it is, and in it %s as html_text() does; also %d, %u, %zu. */
void html_printf(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Write a paragraph, indented by `indent` columns as its line of text would be. */
void html_paragraph(const struct view *view, int indent, const char *text);
/* Write some source lines around `line`. Writes nothing if the file cannot be read here or its name
 * is not that of a source file. */
void html_source(FILE *out, const char *path, int line);

#endif
