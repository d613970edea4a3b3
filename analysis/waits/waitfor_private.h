/* SPDX-License-Identifier: BSD-3-Clause
 * What the files of the wait-for graph share. */
#ifndef PDB_ANALYSIS_WAITFOR_PRIVATE_H
#define PDB_ANALYSIS_WAITFOR_PRIVATE_H

#include "analysis/waits/ledgers.h"
#include "analysis/waits/waitfor.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/model.h"

/* The rest of a collective. */
struct collective_node {
	/* Members that have not started it: those of `chain`, and these in `missing`. */
	size_t first_missing, num_missing;
	uint32_t chain; /* the one before it on the communicator, or WAITFOR_NONE */
	bool may_go_on; /* something else than the missing members may be what it waits for */
};

/* A lock that somebody waits for, or (target -1) the locks of all targets of a window. */
struct lock_node {
	uint32_t comm;     /* window, in job_comms */
	int target;        /* the job's rank; -1: all */
	bool is_exclusive; /* wanted so: then whoever holds it is in the way */
	bool may_go_on;    /* the target, or somebody unknown, may be what holds it up */
	uint32_t chain;    /* those who hold the locks of all targets, or WAITFOR_NONE */
	size_t first_holder, num_holders; /* in holder_ranks */
};

/* Somebody holds a lock of a window. */
struct lock_holder {
	uint32_t comm;
	int target; /* the job's rank; -1: all */
	bool is_exclusive;
	int rank;
};

/* Edges from each node, in two arrays: those of node n are to[first[n]] up to to[first[n + 1]]. */
struct wait_graph {
	size_t num_nodes;
	size_t *first; /* [num_nodes + 1] */
	uint32_t *to;
	uint8_t *mode; /* [num_nodes] enum node_mode */
};

enum node_mode {
	NODE_FREE,      /* released */
	NODE_ALL,       /* released when all that its edges lead to are */
	NODE_ANY,       /* released when one is; without edges never */
	NODE_POLLS_ALL, /* the same of one that polls: free unless it is taken to go on polling */
	NODE_POLLS_ANY,
};

struct waitfor_private {
	const struct job_model *jm;
	struct rank_lanes *ranks; /* [num_ranks] */
	size_t num_ranks;
	bool *has_left;  /* [num_ranks] no message comes from it any more */
	bool *is_static; /* [num_ranks] all of its lanes are; false without a model */
	struct ledgers *ledgers;

	struct collective_node *collectives; /* [waitfor.num_collectives] */
	int *missing;                        /* ranks */
	size_t num_missing, missing_capacity;
	struct rankset *
		*unknown; /* [num_comms] members of which nothing is known; NULL: not asked */

	bool *is_any_used;       /* [num_comms] somebody receives from any member */
	struct lock_node *locks; /* by communicator, exclusive or not, target */
	size_t num_locks, locks_capacity;
	int *holder_ranks;

	uint32_t first_rank, first_collective, first_any, first_lock; /* of the nodes */
	struct wait_graph graph;
	bool *is_released, *is_likely_released; /* [graph.num_nodes] */
	size_t needs_capacity, collectives_capacity, unreceived_capacity, losts_capacity;
};

/* ---- waitfor.c ---- */

/* The need of a lane that leads to a node, a certain one first; WAITFOR_NONE: none does. */
uint32_t waitfor_find_need(const struct waitfor *w, uint32_t lane, uint32_t node);
uint32_t waitfor_lane_of_need(const struct waitfor *w, uint32_t need);

/* ---- waitfor_collectives.c ---- */

/* Find the collectives that lanes wait in, who has not started them, and the mismatches. */
void waitfor_find_collectives(struct waitfor *w);
/* The index of a collective that a rank waits in, or WAITFOR_NONE. */
uint32_t waitfor_find_collective(const struct waitfor *w, uint32_t comm, uint64_t number,
				 int owner);
/* ---- waitfor_mismatch.c ---- */

void waitfor_find_mismatches(struct waitfor *w);

/* ---- waitfor_needs.c ---- */

void waitfor_find_needs(struct waitfor *w);

/* ---- waitfor_messages.c ---- */

/* What a receive, probe or send of a lane waits for. Fills in kind, certain, weak, peer, node,
 * number, given; false: it waits for nothing, or *gap says what is not known. */
struct wait_call {
	uint32_t lane;
	const struct model_transfer *transfer;
};
bool waitfor_need_receive(struct waitfor *w, const struct wait_call *call,
			  struct waitfor_need *need, enum waitfor_gap *gap);
bool waitfor_need_probe(struct waitfor *w, const struct wait_call *call, struct waitfor_need *need,
			enum waitfor_gap *gap);
bool waitfor_need_send(struct waitfor *w, const struct wait_call *call, struct waitfor_need *need,
		       enum waitfor_gap *gap);

/* ---- waitfor_wildcards.c ---- */

/* After all needs: which of those with a wildcard are not met by a message that is on its way. */
void waitfor_settle_wildcards(struct waitfor *w);

/* ---- waitfor_locks.c ---- */

/* Find the locks that lanes wait for and who holds them. */
void waitfor_find_locks(struct waitfor *w);
bool waitfor_need_lock(struct waitfor *w, const struct wait_call *call, struct waitfor_need *need,
		       enum waitfor_gap *gap);

/* ---- waitfor_release.c ---- */

void waitfor_make_graph(struct waitfor *w);
void waitfor_release(struct waitfor *w);

/* ---- waitfor_deadlock.c ---- */

void waitfor_find_deadlocks(struct waitfor *w);

/* ---- waitfor_lost.c ---- */

void waitfor_find_losts(struct waitfor *w);

#endif
