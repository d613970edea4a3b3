/* SPDX-License-Identifier: BSD-3-Clause
 * Programs that pdb starts in the foreground: they get the terminal, pdb waits. */
#ifndef PDB_SHELL_CHILD_H
#define PDB_SHELL_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct pdb_error;

/* Start a child, which calls `become`; that returns errno when it cannot be what it should. Returns
 * 0, or that errno, or why there is no child. */
int child_start(int (*become)(void *context), void *context, pid_t *pid_ret);

/* Who wants to know of a child. */
struct child_watch {
	void (*started)(void *context, pid_t pid); /* it is there */
	/* It has been told to end for some seconds, and has not: may it be killed? */
	bool (*may_kill)(void *context);
	void *context;
};

/* Run argv[0] (looked up in PATH) and wait for it. Ctrl-C is not for pdb meanwhile; afterwards the
 * terminal is as it was. remove_env: a variable that it is not to have, or NULL. output_fd: its
 * standard output. *status_ret: its exit status, or 128 + signal. -1: it could not be started. When
 * pdb is to end, the program is told to, by SIGHUP and then by SIGTERM. watch may be NULL. */
int child_run(const char *const argv[], const char *remove_env, int output_fd,
	      const struct child_watch *watch, int *status_ret, struct pdb_error *err);

/* Of a child started otherwise: between these Ctrl-C is not for pdb. Sets the terminal back. */
struct child_hold {
	bool has_terminal;
	struct termios modes;
	struct sigaction old_int, old_quit;
};

void child_hold_terminal(struct child_hold *hold);
void child_release_terminal(const struct child_hold *hold);

#endif
