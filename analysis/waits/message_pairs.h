/* SPDX-License-Identifier: BSD-3-Clause
 * Messages by receiver, sender and tag: the counts of both ends' ledgers, side by side. */
#pragma once

#include "model/base.h"

struct job_comms;

/* A row of the ledgers of two ranks, all their threads together. */
struct message_pair {
	uint32_t comm; /* in job_comms, or SEG_NO_COMM: not known */
	int from, to;  /* the job's; -1: not known; from SEG_PEER_ANY: receives that take any */
	int32_t tag;   /* or enum seg_tag */
	uint64_t sends, sends_done;
	/* Posted and done. Of a real sender and tag: with the messages that receives with a
	 * wildcard have taken (`taken` of them); those receives have a row of their own, too. */
	uint64_t receives, receives_done, taken;
	uint64_t wildcards; /* receives with one that are not done and may take such a message */
	uint32_t num_senders, num_receivers; /* threads that count here */
	bool is_comparable; /* both ends are recorded, and no count is known to lack anything */
	bool is_moving; /* an end made a transition between the looks: counts are of two moments */
};

struct message_pairs {
	struct message_pair *pairs; /* by comm, receiver, sender, tag */
	size_t num_pairs;
};

/* Of all ranks with a model, in the arena. Never fails. */
struct message_pairs *message_pairs_create(const struct job_model *jm,
					   const struct job_comms *comms, struct arena *arena);

/* The pair, or NULL. */
const struct message_pair *message_pairs_find(const struct message_pairs *pairs, uint32_t comm,
					      int from, int to, int32_t tag);

/* Is there something at one end that has no counterpart at the other? Wildcards have none. */
bool message_pair_differs(const struct message_pair *pair);

enum message_match { MESSAGE_MATCH_UNKNOWN, MESSAGE_MATCH_YES, MESSAGE_MATCH_NO };

/* Has send, or receive, number `ordinal` of the pair its receive, or message? Messages of one pair
 * are received in the order sent. pair NULL and ordinal 0: not known. */
enum message_match message_pair_match(const struct message_pair *pair, bool is_send,
				      uint64_t ordinal);
