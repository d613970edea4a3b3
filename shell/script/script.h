/* SPDX-License-Identifier: BSD-3-Clause
 * Sources of lines: the prompt, command files, user-defined commands. */
#ifndef PDB_SHELL_SCRIPT_H
#define PDB_SHELL_SCRIPT_H

struct args;
struct macro;
struct pdb_error;
struct session;

struct line_source {
	/* The next line without its newline; the caller frees. NULL: the end. prompt: shown by
	 * terminals. */
	char *(*next)(struct line_source *source, const char *prompt);
	const char *name; /* for messages: the file's name */
	int line;         /* number of the line returned last, from 1 */
};

/* Run a command file, pipe or device until its end, Ctrl-C, `quit` or an error. Errors get the
 * prefix "NAME:LINE: ". Files nest at most 20 deep. script_run_open() does not close `fd`. -1 and
 * *err. */
int script_run_open(struct session *session, int fd, const char *name, struct pdb_error *err);
int script_run_file(struct session *session, const char *path, struct pdb_error *err);

/* The same for a user-defined command called with args. Its lines may redefine the macro. */
int script_run_macro(struct session *session, const struct macro *macro, const struct args *args,
		     struct pdb_error *err);

/* Run the startup files: $XDG_CONFIG_HOME/pdb/pdbrc or ~/.config/pdb/pdbrc, or else ~/.pdbrc; then
 * ./.pdbrc. They can start programs, so they must not belong to another user, and "safe-path" must
 * allow the directory of ./.pdbrc. Files that are not run or fail are reported; this is no
 * error. */
void startup_run(struct session *session);

#endif
