/* SPDX-License-Identifier: BSD-3-Clause
 * `pdb watch` and `pdb run --watch`, for scripts. */
#ifndef PDB_SHELL_WATCH_MAIN_H
#define PDB_SHELL_WATCH_MAIN_H

struct options;
struct session;

/* Watch the job of options->pid, or the user's only one; or start options->run_argv and watch every
 * job that it makes until it ends, one after the other if it is a script. Returns pdb's exit
 * status: 0 the job has ended (well, as far as that is known), 1 a hang was found, 2 pdb could not
 * do what was asked; of a command that was started and ended by itself its own. */
int watch_main(struct session *session, const struct options *options);

#endif
