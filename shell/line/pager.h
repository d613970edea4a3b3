/* SPDX-License-Identifier: BSD-3-Clause
 * Long answers on a terminal. */
#ifndef PDB_SHELL_PAGER_H
#define PDB_SHELL_PAGER_H

#include <stdbool.h>
#include <stddef.h>

/* Write text[size], with colours of gate.h, to standard output, a terminal. What is longer than
 * that goes through $PAGER; without one by pages: Enter or space bar (the next), q or Ctrl-C (no
 * more), c (the rest at once). */
void pager_show(const char *text, size_t size);

/* Rows of a terminal that `line`, up to a newline or `end`, takes: at least one. Colours take none,
 * characters in UTF-8 a column each. *next_ret is set behind the newline. */
size_t pager_rows(const char *line, const char *end, size_t columns, const char **next_ret);

#endif
