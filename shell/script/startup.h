/* SPDX-License-Identifier: BSD-3-Clause
 * Command files that are carried out at the start: the user's, and the one of the project in the
 * current directory. Their lines can start programs, so they must be nobody else's, and a project's
 * must be allowed by the user's ("safe-path"): a directory of a stranger's files does nothing. */
#ifndef PDB_SHELL_STARTUP_H
#define PDB_SHELL_STARTUP_H

struct session;

/* Carry out $XDG_CONFIG_HOME/pdb/pdbrc or ~/.config/pdb/pdbrc, or else ~/.pdbrc; then ./.pdbrc.
 * What is not run, and why, and a command that fails in one of them, is told and is no failure. */
void startup_run(struct session *session);

#endif
