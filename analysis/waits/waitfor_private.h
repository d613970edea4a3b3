/* SPDX-License-Identifier: BSD-3-Clause
 * What the files of the wait-for graph share. */
#ifndef PDB_ANALYSIS_WAITFOR_PRIVATE_H
#define PDB_ANALYSIS_WAITFOR_PRIVATE_H

#include "analysis/waits/ledgers.h"
#include "analysis/waits/wait_graph.h"
#include "analysis/waits/waitfor.h"
#include "model/arena.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/model.h"

/* What is behind a node that is neither a lane nor a rank: members that have not started the
 * collective, those of the communicator, or who holds the lock. */
struct group_node {
	const int *ranks; /* [num_ranks]: the job's */
	size_t num_ranks;
	uint32_t back;  /* what is behind the group so many nodes before is, too; 0: no more */
	size_t num_all; /* with those */
	bool may_go_on; /* something else may be what it waits for, as a member of another job */
};

/* A lock that somebody waits for, or (target -1) the locks of all targets of a window. */
struct lock_node {
	uint32_t comm;     /* window, in job_comms */
	int target;        /* the job's rank; -1: all */
	bool is_exclusive; /* wanted so: then whoever holds it is in the way */
	struct group_node group;
};

struct waitfor_private {
	struct arena *arena; /* it is all in here */
	const struct job_model *jm;
	struct rank_lanes *ranks; /* [num_ranks] */
	size_t num_ranks;
	bool *has_left;  /* [num_ranks] no message comes from it any more */
	bool *is_static; /* [num_ranks] all of its lanes are; false without a model */
	struct ledgers *ledgers;

	struct group_node *collectives; /* [waitfor.num_collectives] */
	struct rankset *
		*unknown;       /* [num_comms] members of which nothing is known; NULL: not asked */
	bool *is_any_used;      /* [num_comms] somebody receives from any member */
	struct group_node *any; /* [num_comms] */
	struct lock_node *locks; /* by communicator, exclusive or not, target */
	size_t num_locks, locks_capacity;

	uint32_t first_rank, first_collective, first_any, first_lock; /* of the nodes */
	struct wait_graph *graph;
	bool *is_released, *is_likely_released; /* [graph->num_nodes] */
	size_t needs_capacity, collectives_capacity, losts_capacity;
};

/* ---- waitfor_ask.c ---- */

/* The job's rank that a node is, or is a lane of; -1: neither. */
int waitfor_rank_of(const struct waitfor *w, uint32_t node);
/* Of a node that is neither a lane nor a rank. */
const struct group_node *waitfor_group_of(const struct waitfor *w, uint32_t node);
/* The need of a lane that leads to a node, a certain one first; WAITFOR_NONE: none does. */
uint32_t waitfor_find_need(const struct waitfor *w, uint32_t lane, uint32_t node);
uint32_t waitfor_lane_of_need(const struct waitfor *w, uint32_t need);

/* ---- waitfor_collectives.c ---- */

/* Find the collectives that lanes wait in, and who has not started them. */
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

/* ---- waitfor_stuck.c ---- */

/* Make the graph, and find who is stuck and the deadlocks. */
void waitfor_find_stuck(struct waitfor *w);

/* ---- waitfor_lost.c ---- */

void waitfor_find_losts(struct waitfor *w);

#endif
