/* SPDX-License-Identifier: BSD-3-Clause
 * The one way for text out of pdb, to a terminal, a pipe or a file. Streams that are gates pass
 * printable characters (text.h), newlines and tabs; all else becomes '?'. So no caller has to clean
 * a name, and none can forget it.
 *
 * What pdb itself wants of a terminal (colours, the begin of the line) is written by the functions
 * below. They put a byte 0 before it, which no string of C has, so no name can say it; a gate makes
 * the terminal's sequence of it. It passes through memory (open_memstream) unchanged, so what was
 * collected there goes on with fwrite() and its size. */
#ifndef PDB_RENDER_GATE_H
#define PDB_RENDER_GATE_H

#include <stdbool.h>
#include <stdio.h>

/* Make standard output and standard error of this process gates: for programs, not libraries. */
void gate_install(void);
/* A gate before `below`, which stays open. Writing fails as it does there. Never NULL. */
FILE *gate_open(FILE *below);
/* A gate before a file that is opened as by fopen(), and closed with it. *fd_ret (or NULL) is for
 * programs that write to it themselves. NULL and errno. */
FILE *gate_open_file(const char *path, const char *mode, int *fd_ret);
/* A gate before standard output for a line editor. It makes sequences of its own, of ASCII, and
 * shows control characters in what is typed as ^X: those of ASCII pass. */
FILE *gate_open_editor(void);

/* Does the terminal show more than ASCII? At first as the locale says. Files are UTF-8. */
void gate_use_unicode(bool use_unicode);

/* A colour from here on: what is between "ESC [" and "m". */
void gate_color(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Back to the begin of the line; the same, and the line is empty. */
void gate_return(FILE *out);
void gate_erase_line(FILE *out);
/* The end of what one of these three has written at `text`, which is before `end`. */
const char *gate_skip(const char *text, const char *end);

#endif
