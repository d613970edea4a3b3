/* SPDX-License-Identifier: BSD-3-Clause
 * `pdb run` and `pdb env`. `pdb run` starts a job with the recorder in it, in the terminal's
 * background. `pdb env` prints shell lines for jobs that are started by hand. */
#ifndef PDB_SHELL_LAUNCH_H
#define PDB_SHELL_LAUNCH_H

#include "model/std.h"

struct launch;
struct options;
struct pdb_error;
struct session;

/* Start options->run_argv with the recorder for its MPI in the ranks. It runs in its own process
 * group, so Ctrl-C does not reach it. Its input is /dev/null; a watched job gets pdb's own input
 * unless that is a terminal. Its output is the terminal or options->output. *ret is freed by
 * launch_finish(). -1 and *err. */
int launch_start(const struct options *options, struct launch **ret, struct pdb_error *err);

/* Pass SIGUSR1 and SIGUSR2, the warnings of batch systems, on to the started program. */
void launch_pass_signals(struct launch *launch);

/* Was a script started (a program that starts launchers), not a launcher? */
bool launch_is_script(const struct launch *launch);

/* Send SIGTERM to the started program, and nothing else. */
void launch_terminate(const struct launch *launch);

/* Wait until every rank on this host has a recorder and has left MPI_Init, for some seconds or
 * until Ctrl-C. Then attach the session. -1 and *err; ERROR_GONE: the job ended first. */
int launch_attach(struct launch *launch, struct session *session, struct pdb_error *err);

/* Has the started program ended? Then *status_ret is its exit status, or 128 + signal, and
 * launch_finish() prints nothing. */
bool launch_has_ended(struct launch *launch, int *status_ret);

/* Tell the started program to end, and wait some seconds for that. */
void launch_end(struct launch *launch);

/* Call before pdb ends: leaves a running job alone, or ends it if the user says so. Frees `launch`;
 * NULL is fine. */
void launch_finish(struct launch *launch, struct session *session);

/* Print the shell lines that put the recorder into jobs started by hand, or that undo this. -1 and
 * *err. */
int launch_print_env(const struct options *options, struct pdb_error *err);

/* Note the session's ranks on this host, before its job is ended. leftovers_remove() frees. */
struct leftovers *leftovers_note(const struct session *session);

/* Wait a moment for these ranks to end, and remove the segments of those that have. Frees; NULL is
 * fine. */
void leftovers_remove(struct leftovers *leftovers);

#endif
