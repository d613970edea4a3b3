/* SPDX-License-Identifier: BSD-3-Clause
 * Shows long answers on a terminal page by page. */
#ifndef PDB_SHELL_PAGER_H
#define PDB_SHELL_PAGER_H

#include "model/std.h"

/* Write text[size], with the colours of gate.h, to standard output, a terminal. Text longer than
 * the terminal goes through $PAGER. Without $PAGER pdb shows pages: Enter or space bar: next page;
 * q or Ctrl-C: stop; c: the rest at once. */
void pager_show(const char *text, size_t size);

/* Terminal rows that `line`, up to a newline or `end`, takes: at least one. Colours take no column,
 * each UTF-8 character takes one. *next_ret is set behind the newline. */
size_t pager_rows(const char *line, const char *end, size_t columns, const char **next_ret);

#endif
