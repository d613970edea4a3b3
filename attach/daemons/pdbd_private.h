/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the parts of a daemon: pdbd.c (its life), pdbd_services.c (the questions), pdbd_node.c
 * (answers about its node's ranks), pdbd_first.c (what rank 0 does for pdb besides). */
#pragma once

#include "attach/daemons/pdbd_tree.h"

struct daemon_rank;
struct link;
struct node;
struct pdbd_gdb;
struct sampler;
struct symbols;
struct watch_look;

#define PDBD_PING_MS 5000 /* so often does rank 0 ask the others something */
#define PDBD_QUIT_MS 1000 /* how long the others may take to hear that it is over */

struct daemon {
	pid_t parent;
	bool is_quitting;
	struct pdbd_gdb *gdb;
	struct pdbd_tree *tree;

	/* Rank 0. */
	struct link *link;
	int64_t pinged_ms;
	int64_t ended_ms; /* when no rank was left, or pdb asked last since; 0: some are */

	/* What it knows of the job, on this node. */
	bool knows_job;
	bool keeps_traces; /* pdb wants a last look when the job's processes have ended */
	int job_size;      /* of the last question that said it */
	struct daemon_rank *ranks;
	size_t num_ranks;
	/* For all looks. job NULL: it is not known yet, or one rank is there twice. */
	struct job *job;
	struct symbols *symbols;
	struct sampler *sampler;
	struct node *node;
	struct watch_look *watch;               /* NULL: not asked yet */
	bool (*sleep_until)(uint64_t until_ns); /* as in struct node_look_options */
};

/* These are the job's ranks on this node; they are the daemon's from now on. */
void pdbd_node_tell(struct daemon *daemon, struct daemon_rank *ranks, size_t num_ranks);
void pdbd_node_deinit(struct daemon *daemon);

/* What is asked of them; the argument is the daemon. */
pdbd_hear_fn pdbd_node_hear, pdbd_node_hear_look;
pdbd_part_fn pdbd_node_job, pdbd_node_living, pdbd_node_look, pdbd_node_sample, pdbd_node_more,
	pdbd_node_watch, pdbd_node_cost;
pdbd_merge_fn pdbd_node_merge_shares, pdbd_node_merge_digests;

/* All that is asked, for pdbd_tree_create(). */
extern const struct pdbd_service pdbd_services[];

/* False when this daemon is to end. Signals come to the thread that makes no parts. */
bool pdbd_sleep_until(uint64_t until_ns);

/* Is this daemon to end, whatever pdb and the others say? */
bool pdbd_is_over(const struct daemon *daemon);

/* Do the other work of a round of waiting. Returns pdbd_is_over(). */
bool pdbd_take_turn(void *daemon);

/* Rank 0: connect to pdb (NULL: no invitation), serve it to the end, tell the others to end. */
void pdbd_run_first(struct daemon *daemon, const char *invitation);
