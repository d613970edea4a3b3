/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the files of the wait-for graph. */
#ifndef PDB_ANALYSIS_WAITFOR_PRIVATE_H
#define PDB_ANALYSIS_WAITFOR_PRIVATE_H

#include "analysis/waits/wait_graph.h"
#include "analysis/waits/waitfor.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/sorted.h"

/* ---- ledgers.c ----
 * How many messages a rank has sent to, received and taken from a peer, over all of its threads. A
 * rank's rows are indexed and added up at the first question about it. */

/* Sums over the lanes that have this row, as in struct model_ledger. */
struct ledger_row {
	uint64_t sends, sends_done, receives, receives_done, taken, cancelled;
};

/* ranks[num_ranks] by rank, their lanes; borrowed like jm. All of it is in the arena. */
struct ledgers *ledgers_create(const struct job_model *jm, const struct rank_actors *ranks,
			       size_t num_ranks, struct arena *arena);

/* The row of a rank that has a model: communicator as an index of the rank's own comms, peer as a
 * rank in it or enum seg_peer, tag or enum seg_tag. All zero if there is none. */
struct ledger_row ledgers_find(struct ledgers *ledgers, int rank, uint32_t comm, int32_t peer,
			       int32_t tag);

/* The sum of those that count the same as `row`, one of the rank's own, in any of its lanes. */
struct ledger_row ledgers_find_like(struct ledgers *ledgers, int rank,
				    const struct model_ledger *row);

/* Messages to and from one peer in one communicator, with any tag. */
struct ledger_total {
	uint64_t sends;    /* started, cancelled ones among them */
	uint64_t got;      /* received or taken for certain */
	uint32_t num_tags; /* with which messages were got; SEG_TAG_MANY may be many */
};

/* All zero if there is none; as in ledgers_find(). */
struct ledger_total ledgers_find_total(struct ledgers *ledgers, int rank, uint32_t comm,
				       int32_t peer);

/* Are tags numbers in what the rank has got of the peer? Programs that number their messages, as
 * BLACS does, take another tag for each, or for each round of several ranks. */
bool ledgers_are_tags_numbers(struct ledgers *ledgers, int rank, uint32_t comm, int32_t peer);

/* Open receives with a wildcard that may get a message of this peer and tag. */
uint64_t ledgers_count_open(struct ledgers *ledgers, int rank, uint32_t comm, int32_t peer,
			    int32_t tag);

/* Did the rank have messages that no row counts? */
bool ledgers_has_dropped(const struct ledgers *ledgers, int rank);

/* Members that have not started a collective, those of a communicator, or a lock's holders. */
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
	struct arena *arena;        /* it is all in here */
	const struct job_model *jm; /* NULL: no rank has a recorder */
	uint32_t num_lanes;         /* actors before this are its lanes */
	struct rank_actors *ranks;  /* [num_ranks] their lanes; num 0: no model */
	size_t num_ranks;
	bool *has_left;  /* [num_ranks] no message comes from it any more */
	bool *is_static; /* [num_ranks] all of its actors are; false without any */
	struct ledgers *ledgers;

	struct group_node *collectives; /* [waitfor.num_collectives] */
	struct rankset **unknown;       /* [num_comms] members of whom nothing is known, or NULL */
	bool *is_any_used;              /* [num_comms] somebody receives from any member */
	struct group_node *any;         /* [num_comms] */
	struct lock_node *locks;        /* by communicator, exclusive or not, target */
	size_t num_locks, locks_capacity;

	uint32_t first_rank, first_collective, first_any, first_lock; /* of the nodes */
	struct wait_graph *graph;
	bool *is_released, *is_likely_released; /* [graph->num_nodes] */
	size_t needs_capacity, collectives_capacity, losts_capacity;
};

/* ---- waitfor_ask.c ---- */

/* The job's rank that a node is, or is a lane of; -1: neither. */
int waitfor_rank_of(const struct waitfor *w, uint32_t node);
/* Not of lanes and ranks. */
const struct group_node *waitfor_group_of(const struct waitfor *w, uint32_t node);
/* The need of a lane that leads to a node, a certain one first; NULL: none does. */
const struct waitfor_need *waitfor_find_need(const struct waitfor *w, uint32_t lane, uint32_t node);

/* ---- waitfor_collectives.c ---- */

/* Find the collectives that lanes wait in, and who has not started them. */
void waitfor_find_collectives(struct waitfor *w);
/* The index of a collective that a rank waits in, or WAITFOR_NONE. */
uint32_t waitfor_find_collective(const struct waitfor *w, uint32_t comm, uint64_t number,
				 int owner);

/* ---- waitfor_messages.c ---- */

/* What a receive, probe or send of a lane waits for. false: nothing, or *gap tells why. */
bool waitfor_need_receive(struct waitfor *w, uint32_t l, const struct model_transfer *transfer,
			  struct waitfor_need *need, enum waitfor_gap *gap);
bool waitfor_need_probe(struct waitfor *w, uint32_t l, const struct model_transfer *transfer,
			struct waitfor_need *need, enum waitfor_gap *gap);
bool waitfor_need_send(struct waitfor *w, uint32_t l, const struct model_transfer *transfer,
		       struct waitfor_need *need, enum waitfor_gap *gap);

/* ---- waitfor_locks.c ---- */

/* Find the locks that lanes wait for and who holds them. */
void waitfor_find_locks(struct waitfor *w);
bool waitfor_need_lock(struct waitfor *w, uint32_t l, const struct model_transfer *transfer,
		       struct waitfor_need *need, enum waitfor_gap *gap);

/* ---- waitfor_pairs.c ---- */

/* What a member says that it gives to others, or takes from them; NULL: nothing. */
struct claim_side {
	const struct model_note *note;
	const uint32_t *entries;
};

/* What one member does as a collective. */
struct claim {
	int rank;
	struct job_comm_view view;
	uint64_t number;
	const char *function;
	int32_t root;
	uint64_t bytes;
	uint32_t site;  /* of the job */
	uint32_t error; /* enum seg_error that it has left it with; 0: none */
	bool is_in;     /* still, be it by the call itself or by a request */
	struct claim_side gives, takes;
};

/* What the member of these has noted of its collective: error, gives, takes. */
void waitfor_read_notes(const struct waitfor *w, struct claim *claim);

/* Pairs of members of one collective, claims[num] by rank, that do not fit, and in what; one of
 * each pair is still in it. At most WAITFOR_MAX_PAIRS of them go to pairs[]; how many. */
size_t waitfor_find_pairs(const struct waitfor *w, const struct claim *claims, size_t num,
			  struct waitfor_pair *pairs, enum waitfor_difference *what_ret);

/* The same of two leaders in MPI_Intercomm_create, who wait for each other: of each two of the job
 * one pair, and where: the peer communicator and how many times these two have met. */
struct leaders {
	struct waitfor_pair pair;
	uint32_t comm, sites[2]; /* of giver and taker */
	uint64_t number;
};
size_t waitfor_find_leaders(const struct waitfor *w, struct leaders *found, size_t most);

/* ---- Steps of waitfor_create(), each in the file of its name ---- */

/* Arrivals and needs that the MPI libraries tell: the first before all needs, the second of each
 * actor right after what its rank has counted. */
void waitfor_find_arrivals(struct waitfor *w);
void waitfor_read_needs(struct waitfor *w, uint32_t l);
/* How many receives of this peer and tag, in any communicator, the MPI library of the actor's rank
 * holds that no message has met; 0 where that is not known. */
size_t waitfor_count_unmet(const struct waitfor *w, uint32_t l, int peer, int32_t tag);
void waitfor_find_needs(struct waitfor *w);
/* After all needs: which of those with a wildcard are not met by a message that is on its way. */
void waitfor_settle_wildcards(struct waitfor *w);
/* Make the graph, and find who is stuck and the deadlocks. */
void waitfor_find_stuck(struct waitfor *w);
void waitfor_find_mismatches(struct waitfor *w);
void waitfor_find_losts(struct waitfor *w);

#endif
