/* SPDX-License-Identifier: BSD-3-Clause
 * `pdb run`: a job with the recorder in it, started in the background with regard to the terminal,
 * and `pdb env`. */
#ifndef PDB_SHELL_LAUNCH_H
#define PDB_SHELL_LAUNCH_H

#include <stdbool.h>

struct launch;
struct options;
struct pdb_error;
struct session;

/* Start options->run_argv with the recorder of its MPI in the ranks, in a process group of its own
 * (Ctrl-C does not reach it). Input: /dev/null or, if it is watched, pdb's own that is no terminal;
 * output: the terminal or options->output. */
int launch_start(const struct options *options, struct launch **ret, struct pdb_error *err);

/* SIGUSR1 and SIGUSR2, by which batch systems warn, are for what was started and not for pdb. */
void launch_pass_signals(struct launch *launch);

/* Is it no launcher but something that starts them, as a script? */
bool launch_is_script(const struct launch *launch);

/* Send it SIGTERM, and nothing else. */
void launch_terminate(const struct launch *launch);

/* Wait until every rank on this host has a recorder and left MPI_Init, for some seconds or until
 * Ctrl-C, then attach the session. ERROR_GONE: the job ended first. */
int launch_attach(struct launch *launch, struct session *session, struct pdb_error *err);

/* Has it? Then *status_ret is its exit status, or 128 + signal, and launch_finish() is silent. */
bool launch_has_ended(struct launch *launch, int *status_ret);

/* Tell it to end, and wait for that for some seconds. */
void launch_end(struct launch *launch);

/* Before pdb ends: leave a running job alone, or end it if the user says so. Frees; takes NULL. */
void launch_finish(struct launch *launch, struct session *session);

/* Print the lines that put the recorder into jobs started by hand, or that undo it. */
int launch_print_env(const struct options *options, struct pdb_error *err);

/* Before the job of the session is ended: who its ranks on this host are. */
struct leftovers *leftovers_note(const struct session *session);

/* Wait for their end, a moment at most; remove the segments of those gone. Frees; takes NULL. */
void leftovers_remove(struct leftovers *leftovers);

#endif
