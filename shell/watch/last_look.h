/* SPDX-License-Identifier: BSD-3-Clause
 * What is saved of a job with traces that has ended: what each rank did, to its end. */
#ifndef PDB_SHELL_LAST_LOOK_H
#define PDB_SHELL_LAST_LOOK_H

struct session;
struct watch_teller;

/* Of the session's job, which looks have kept the traces of (session->keeps_traces), on all hosts.
 * What cannot be saved is told; nothing is where there are no traces. */
void last_look_save(struct session *session, const char *path, struct watch_teller *teller);

/* What has been started has ended: remove the segments that ranks have left to this process. If
 * nothing has been saved, as a job ended before the session could look at it, they are: those of
 * the job that began last; for that the session must be without a job, and is so again. */
void last_look_clean(struct session *session, const char *path, struct watch_teller *teller);

#endif
