/* SPDX-License-Identifier: BSD-3-Clause
 * What is done about a hang that was found: snapshot, report, the user's command, the job's end. */
#ifndef PDB_SHELL_WATCH_HANG_H
#define PDB_SHELL_WATCH_HANG_H

struct session;
struct watch_hang;
struct watch_options;
struct watch_teller;

/* All that the options ask for, in this order. What fails is told, and the rest is done all the
 * same. */
void watch_hang_act(struct session *session, const struct watch_options *options,
		    const struct watch_hang *hang, struct watch_teller *teller);

#endif
