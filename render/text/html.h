/* SPDX-License-Identifier: BSD-3-Clause
 * HTML: what views print where view->is_html, and the pieces that a report is made of. Names come
 * from other people's programs, so all text goes through html_text(). There are no style
 * attributes: the page's security policy refuses them. */
#ifndef PDB_RENDER_HTML_H
#define PDB_RENDER_HTML_H

#include <stdio.h>

struct view;

/* Text of an element or an attribute: nothing of it is markup, what is not printable is '?'. */
void html_text(FILE *out, const char *text);
void html_printf(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A paragraph with the indent, in columns, that it has as a line of text. */
void html_paragraph(const struct view *view, int indent, const char *text);
/* Some lines of the source around a line, if the file can be read here and looks like a source. */
void html_source(FILE *out, const char *path, int line);

#endif
