/* SPDX-License-Identifier: BSD-3-Clause
 * Programs that pdb starts in the foreground: they get the terminal, pdb waits. */
#ifndef PDB_SHELL_CHILD_H
#define PDB_SHELL_CHILD_H

struct pdb_error;

/* Run argv[0] (looked up in PATH) and wait for it. Ctrl-C goes to it and not to pdb meanwhile;
 * afterwards the terminal is as it was. remove_env: a variable that it is not to have, or NULL.
 * output_fd: what its standard output is to be. *status_ret: its exit status, or 128 + signal. -1:
 * it could not be started. */
int child_run(const char *const argv[], const char *remove_env, int output_fd, int *status_ret,
	      struct pdb_error *err);

#endif
