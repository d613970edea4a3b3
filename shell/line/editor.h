/* SPDX-License-Identifier: BSD-3-Clause
 * The prompt: line editing, history, completion. Readline stays inside. */
#ifndef PDB_SHELL_EDITOR_H
#define PDB_SHELL_EDITOR_H

#include <stdbool.h>
#include <stddef.h>

#include "shell/script/script.h"

struct arena;

/* What words may become: complete_line(). */
typedef struct completions editor_complete(struct arena *arena, const struct session *session,
					   const char *line, size_t start);

/* For a session whose input is a terminal. History is read from ~/.pdb_history, or from the file
 * that PDB_HISTORY names. One editor at a time: readline has one state. */
struct editor *editor_create(struct session *session, editor_complete *complete_words);
/* Writes the history. NULL is fine. */
void editor_destroy(struct editor *editor);

/* The lines as a source. A line comes without history expansion; NULL at the end of input or when a
 * signal asks pdb to end. Ctrl-C empties the line. Told meanwhile when the job ends. */
struct line_source *editor_source(struct editor *editor);

/* Put a line into the history, unless it is empty or the one before. */
void editor_remember(struct editor *editor, const char *line);

/* True for yes, without a terminal, and with confirm off. The end of input and Ctrl-C are no. */
bool editor_confirm(struct session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
