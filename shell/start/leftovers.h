/* SPDX-License-Identifier: BSD-3-Clause
 * What a job leaves in memory when pdb ends it: its ranks are killed, and so their segments
 * stay. */
#ifndef PDB_SHELL_LEFTOVERS_H
#define PDB_SHELL_LEFTOVERS_H

struct leftovers;
struct session;

/* Before the job of the session is ended: who its ranks on this host are. */
struct leftovers *leftovers_note(const struct session *session);

/* When it has ended: wait for these processes to be gone, for a moment at most, and remove the
 * segments of those that are. Frees. NULL is fine. */
void leftovers_remove(struct leftovers *leftovers);

#endif
