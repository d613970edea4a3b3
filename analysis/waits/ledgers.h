/* SPDX-License-Identifier: BSD-3-Clause
 * The ledgers of a job's ranks, to look a row up in: how many messages a rank has sent to,
 * received and taken from a peer, over all of its threads. A rank's rows are indexed, and added
 * up, at the first such question about it, so what is not asked for costs nothing. */
#ifndef PDB_ANALYSIS_LEDGERS_H
#define PDB_ANALYSIS_LEDGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct job_model;
struct model_ledger;

/* Sums over the lanes that have this row, as in struct model_ledger. */
struct ledger_row {
	uint64_t sends, sends_done, receives, receives_done, taken, cancelled;
};

/* The lanes of one rank. */
struct rank_lanes {
	uint32_t first, num; /* in jm->lanes; num 0: no model */
};

struct ledgers;

/* ranks[num_ranks] by rank; borrowed like jm. All of it is in the arena. */
struct ledgers *ledgers_create(const struct job_model *jm, const struct rank_lanes *ranks,
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

/* Did the rank have messages that no row counts? */
bool ledgers_has_dropped(const struct ledgers *ledgers, int rank);

#endif
