/* SPDX-License-Identifier: BSD-3-Clause
 * Programs that pdb starts in the foreground: they get the terminal, pdb waits. */
#ifndef PDB_SHELL_CHILD_H
#define PDB_SHELL_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct pdb_error;

/* Run argv[0] (looked up in PATH) and wait for it. Ctrl-C goes to it and not to pdb meanwhile;
 * afterwards the terminal is as it was. remove_env: a variable that it is not to have, or NULL.
 * output_fd: what its standard output is to be. started (may be NULL) is called with the context
 * and its pid when it is there. *status_ret: its exit status, or 128 + signal. -1: it could not be
 * started. */
int child_run(const char *const argv[], const char *remove_env, int output_fd,
	      void (*started)(void *context, pid_t pid), void *context, int *status_ret,
	      struct pdb_error *err);

/* For a child that is started otherwise: from here until child_release_terminal() Ctrl-C is not for
 * pdb, and then the terminal is as it was. */
struct child_hold {
	bool has_terminal;
	struct termios modes;
	struct sigaction old_int, old_quit;
};

void child_hold_terminal(struct child_hold *hold);
void child_release_terminal(const struct child_hold *hold);

#endif
