/* SPDX-License-Identifier: BSD-3-Clause
 * What is done about a hang that was found: snapshot, report, the user's command, the job's end. */
#ifndef PDB_SHELL_WATCH_HANG_H
#define PDB_SHELL_WATCH_HANG_H

struct pdb_error;
struct session;
struct watch_hang;
struct watch_options;
struct watch_teller;

/* Can the files be written that are asked for? -1 says which cannot, before it is too late. They
 * are not there afterwards if they were not before. */
int watch_hang_check(const struct watch_options *options, struct pdb_error *err);

/* All that the options ask for, in this order. What fails is told, and the rest is done all the
 * same. */
void watch_hang_act(struct session *session, const struct watch_options *options,
		    const struct watch_hang *hang, struct watch_teller *teller);

#endif
