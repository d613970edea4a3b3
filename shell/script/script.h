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
	/* The next line without newline, the caller frees; NULL: the end. prompt: of terminals. */
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

/* Carry out the files of the start: $XDG_CONFIG_HOME/pdb/pdbrc or ~/.config/pdb/pdbrc, or else
 * ~/.pdbrc; then ./.pdbrc. They can start programs, so they must be nobody else's, and that of a
 * directory must be allowed by "safe-path". What is not run or fails is told and is no failure. */
void startup_run(struct session *session);

#endif
