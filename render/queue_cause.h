/* SPDX-License-Identifier: BSD-3-Clause
 * What is wrong by what MPI libraries hold of messages, as lines of lp's answer. */
#ifndef PDB_RENDER_QUEUE_CAUSE_H
#define PDB_RENDER_QUEUE_CAUSE_H

struct queue_wait;
struct view;

/* The view's verdict has a queue_cause. */
void queue_cause_print(const struct view *view);

/* What it is for, after "waits for": "a message with tag 7 from rank 3 on halo", "rank 3 to
 * receive its message with tag 7", "the part of rank 3 in MPI_Allreduce". */
const char *queue_wait_label(const struct view *view, const struct queue_wait *wait);
/* The same with these words for the peer, "ranks 3,5", and for who has sent the message,
 * "their". */
const char *queue_wait_label_of(const struct view *view, const struct queue_wait *wait,
				const char *peer, const char *whose);

#endif
