/* SPDX-License-Identifier: BSD-3-Clause
 * What an MPI library itself holds of one rank's messages: receives that no message has met yet,
 * messages that have arrived without a receive, and how many went to and came from each other
 * rank. Plain data, filled by attach/. It is there without a recorder, of some libraries. */
#ifndef PDB_MODEL_MESSAGE_QUEUES_H
#define PDB_MODEL_MESSAGE_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_ANY_PEER (-1)   /* a receive from any member of the communicator */
#define MESSAGE_OTHER_PEER (-2) /* a process that is no rank of the job */
/* Tags below 0 are the library's own: messages of its collectives. */
#define MESSAGE_ANY_TAG INT32_MIN
#define MESSAGE_TAG_NOT_KNOWN (INT32_MIN + 1)

/* A receive that was posted and that no message has met, or a message that no receive has met. */
struct queued_message {
	int32_t peer; /* the job's rank that it is to come from, or came from */
	int32_t tag;
	uint32_t comm; /* index in comms */
};

/* All messages between this rank and another one in one communicator, the library's own
 * included. 0 and 0 of all members of a communicator from any of which a receive waits, where
 * the library does not count. */
struct message_pair {
	int32_t peer; /* the job's rank, or MESSAGE_OTHER_PEER */
	uint32_t comm;
	/* Modulo 2^16. A message has arrived when the library has looked at it, which it does
	 * inside MPI calls only, whether a receive is there or not. */
	uint16_t sent, arrived;
};

struct queued_comm {
	char name[64]; /* as the library or MPI_Comm_set_name has it; may be empty */
	uint32_t size; /* ranks, of an inter-communicator those of the other side */
};

struct message_queues {
	/* Those that have messages or receives, in an order that stays: of two that are there
	 * later, too, the same one comes first. */
	struct queued_comm *comms;
	size_t num_comms;
	struct queued_message *receives; /* by communicator and peer, then as posted */
	size_t num_receives;
	struct queued_message *unexpected; /* by communicator and peer, then as arrived */
	size_t num_unexpected;
	struct message_pair *pairs; /* by communicator and peer; only where there was a message */
	size_t num_pairs;
	/* Receives that had to wait for their message since the start, 0: not told. Where
	 * nothing counts what was sent, it tells a rank that awaits what it has awaited before
	 * from one that stands still. */
	uint64_t num_posted;
};

/* length: of the bytes up to the end or a 0; what is too long is cut off, and control characters
 * are replaced. */
void queued_comm_set_name(struct queued_comm *comm, const void *bytes, size_t length);

struct message_queues *message_queues_create(void);
void message_queues_destroy(struct message_queues *queues); /* NULL is fine */
/* Has the rank sent anything between the two, or posted a receive, or got what it had posted one
 * for, or received a message that was there before? That messages arrive that it has not asked
 * for is no doing of its own. Where pairs are not known, one that was received and replaced by
 * another like it is not noticed. */
bool message_queues_have_moved(const struct message_queues *before,
			       const struct message_queues *after);

#endif
