/* SPDX-License-Identifier: BSD-3-Clause
 * A gate is a stream that cleans text before it reaches a terminal, a pipe or a file. All output of
 * pdb goes through gates. They pass printable characters (text.h), newlines and tabs; all else
 * becomes '?'. So callers need not clean names.
 *
 * The functions below write pdb's own colours and cursor movements. They mark them with a byte 0,
 * which no C string contains, so no name can imitate them. The gate turns a mark into the
 * terminal's sequence. Marks pass through memory (open_memstream) unchanged; write such memory with
 * fwrite() and its size. */
#ifndef PDB_RENDER_GATE_H
#define PDB_RENDER_GATE_H

#include "model/std.h"

/* Make standard output and standard error of this process gates. For programs, not for
 * libraries. */
void gate_install(void);
/* Open a gate before `below`, which stays open. Writing fails as it does there. Never NULL;
 * fclose() frees. */
FILE *gate_open(FILE *below);
/* Open a gate before a file, opened as by fopen() and closed with the gate. *fd_ret (or NULL): its
 * descriptor, for programs that write to it directly. NULL and errno. */
FILE *gate_open_file(const char *path, const char *mode, int *fd_ret);
/* Open a gate before standard output for a line editor. The editor writes ASCII sequences of its
 * own, and shows typed control characters as ^X; so this gate passes ASCII control characters. */
FILE *gate_open_editor(void);

/* Can the terminal show more than ASCII? The default is the locale's. Files are always UTF-8. */
void gate_use_unicode(bool use_unicode);

/* Switch to a colour: the text between "ESC [" and "m". */
void gate_color(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Go back to the beginning of the line; gate_erase_line() also empties it. */
void gate_return(FILE *out);
void gate_erase_line(FILE *out);
/* The end of the mark at `text`, if one of these three functions wrote it; `end` is the end of the
 * text. */
const char *gate_skip(const char *text, const char *end);

#endif
