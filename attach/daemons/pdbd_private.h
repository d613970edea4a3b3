/* SPDX-License-Identifier: BSD-3-Clause
 * What the parts of a daemon share: pdbd.c, its life, pdbd_node.c, what each is asked, and
 * pdbd_first.c, what rank 0 does for pdb besides. */
#ifndef PDB_ATTACH_PDBD_PRIVATE_H
#define PDB_ATTACH_PDBD_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "attach/daemons/pdbd_tree.h"

struct daemon_look;
struct daemon_rank;
struct pdbd_gdb;

#define PDBD_PING_MS 5000 /* so often does rank 0 ask the others something */
#define PDBD_QUIT_MS 1000 /* how long the others may take to hear that it is over */

struct daemon {
	pid_t parent;
	bool is_quitting;
	bool knows_job;
	bool keeps_traces;         /* pdb wants a last look when the job's processes have ended */
	struct daemon_rank *ranks; /* of the job, on this node */
	size_t num_ranks;
	struct daemon_look *look; /* NULL: there are none, or it is not known yet */
	int job_size;             /* of the last question that said it */
	struct pdbd_gdb *gdb;
	struct pdbd_tree *tree;
};

/* What it answers, for pdbd_tree_create(). */
extern const struct pdbd_service pdbd_services[];

/* Is this daemon to end, whatever pdb and the others say? */
bool pdbd_is_over(const struct daemon *daemon);

/* In every round of waiting: do what is to be done besides. pdbd_is_over(). */
bool pdbd_take_turn(const struct daemon *daemon);

/* Rank 0: connect to pdb by the invitation (NULL: there is none), and serve it until that is over;
 * then tell the others to end. */
void pdbd_run_first(struct daemon *daemon, const char *invitation);

#endif
