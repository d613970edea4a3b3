/* SPDX-License-Identifier: BSD-3-Clause
 * The prompt: line editing, history, completion. Readline stays inside. */
#ifndef PDB_SHELL_EDITOR_H
#define PDB_SHELL_EDITOR_H

#include "model/std.h"
#include "shell/script/script.h"

struct arena;

/* The function that completes words: complete_line(). */
typedef struct completions editor_complete(struct arena *arena, const struct session *session,
					   const char *line, size_t start);

/* Create the editor of a session whose input is a terminal. History is read from ~/.pdb_history, or
 * from the file in PDB_HISTORY. Only one editor at a time: readline has one state. editor_destroy()
 * frees. */
struct editor *editor_create(struct session *session, editor_complete *complete_words);
/* Write the history and free. NULL is fine. */
void editor_destroy(struct editor *editor);

/* The typed lines as a source, owned by the editor. History expansion is off. A line is NULL at the
 * end of input or when a signal asks pdb to end. Ctrl-C empties the line. While the editor waits
 * for a line, it reports the end of the job. */
struct line_source *editor_source(struct editor *editor);

/* Add a line to the history, unless it is empty or equal to the previous one. */
void editor_remember(struct editor *editor, const char *line);

/* Ask a question. True for yes, without a terminal, and with "confirm" off. The end of input and
 * Ctrl-C mean no. */
bool editor_confirm(struct session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
