/* SPDX-License-Identifier: BSD-3-Clause
 * Where lines come from: the prompt, command files, user-defined commands. */
#ifndef PDB_SHELL_SCRIPT_H
#define PDB_SHELL_SCRIPT_H

#include <stdbool.h>

struct args;
struct macro;
struct pdb_error;
struct session;

struct line_source {
	/* The next line, without its newline, for the caller to free; NULL at the end. Terminals
	 * show prompt. */
	char *(*next)(struct line_source *source, const char *prompt);
	const char *name; /* for messages: the file's name */
	int line;         /* number of the line returned last, from 1 */
};

/* Carry out a command file, pipe or device until its end, Ctrl-C, `quit` or an error, which is
 * prefixed with "NAME:LINE: ". Files nest at most 20 deep. An open one stays open. */
int script_run_open(struct session *session, int fd, const char *name, struct pdb_error *err);
int script_run_file(struct session *session, const char *path, struct pdb_error *err);

/* The same for a user-defined command called with args. The macro may be redefined meanwhile. */
int script_run_macro(struct session *session, const struct macro *macro, const struct args *args,
		     struct pdb_error *err);

#endif
