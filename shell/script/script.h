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
	/* The next line without its newline; NULL at the end. The caller frees. prompt is shown by
	 * sources that are terminals. */
	char *(*next)(struct line_source *source, const char *prompt);
	const char *name; /* for messages: the file's name */
	int line;         /* number of the line returned last, from 1 */
};

/* Carry out all lines of a command file, which may be a pipe or a device, until its end, `quit` or an
 * error; the error is prefixed with "NAME:LINE: ". Files nest at most 20 deep. An open one stays open.
 * Ctrl-C ends waiting for lines, too. */
int script_run_open(struct session *session, int fd, const char *name, struct pdb_error *err);
int script_run_file(struct session *session, const char *path, struct pdb_error *err);

/* The same for a user-defined command called with args. The macro may be redefined meanwhile. */
int script_run_macro(struct session *session, const struct macro *macro, const struct args *args,
		     struct pdb_error *err);

#endif
