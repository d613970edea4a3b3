/* SPDX-License-Identifier: BSD-3-Clause
 * Programs that pdb starts in the foreground. They get the terminal, and pdb waits for them. */
#ifndef PDB_SHELL_CHILD_H
#define PDB_SHELL_CHILD_H

#include <signal.h>
#include <sys/types.h>
#include <termios.h>

#include "model/std.h"

struct pdb_error;

/* Start a child that calls `become`. That function returns only on failure, with an errno. Returns
 * 0, that errno, or the errno of a failed start; *pid_ret is the child's. */
int child_start(int (*become)(void *context), void *context, pid_t *pid_ret);

/* Callbacks about a child. */
struct child_watch {
	void (*started)(void *context, pid_t pid); /* the child has started */
	/* The child was told to end some seconds ago and still runs: may pdb kill it? */
	bool (*may_kill)(void *context);
	void *context;
};

/* Run argv[0] (looked up in PATH) and wait for it. pdb ignores Ctrl-C meanwhile and restores the
 * terminal afterwards. remove_env: a variable that the program must not get, or NULL. output_fd:
 * the program's standard output. watch: may be NULL. When pdb must end, it sends the program
 * SIGHUP, then SIGTERM. *status_ret: exit status, or 128 + signal. -1 and *err: the program could
 * not be started. */
int child_run(const char *const argv[], const char *remove_env, int output_fd,
	      const struct child_watch *watch, int *status_ret, struct pdb_error *err);

/* For a child started in another way: between these two calls pdb ignores Ctrl-C. The second one
 * restores the terminal. */
struct child_hold {
	bool has_terminal;
	struct termios modes;
	struct sigaction old_int, old_quit;
};

void child_hold_terminal(struct child_hold *hold);
void child_release_terminal(const struct child_hold *hold);

#endif
