/* SPDX-License-Identifier: BSD-3-Clause
 * The message queues of one rank's MPI library, with a recorder or without: receives that no
 * message has met, messages without a receive, counts by peer. Filled by attach/. */
#pragma once

#include "model/base.h"

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

/* All messages between this rank and another in one communicator, the library's own included. Where
 * the library does not count: 0 and 0 of all members that a receive from any may get one from. */
struct message_pair {
	int32_t peer; /* the job's rank, or MESSAGE_OTHER_PEER */
	uint32_t comm;
	/* Modulo 2^16. A message has arrived when the library has looked at it, inside an MPI call.
	 */
	uint16_t sent, arrived;
};

struct queued_comm {
	char name[64]; /* as the library or MPI_Comm_set_name has it; may be empty */
	uint32_t size; /* ranks, of an inter-communicator those of the other side */
};

struct message_queues {
	/* Those with messages or receives, in an order that stays while others come. */
	struct queued_comm *comms;
	size_t num_comms;
	struct queued_message *receives; /* by communicator and peer, then as posted */
	size_t num_receives;
	struct queued_message *unexpected; /* by communicator and peer, then as arrived */
	size_t num_unexpected;
	struct message_pair *pairs; /* by communicator and peer; only where there was a message */
	size_t num_pairs;
	/* Receives that had to wait for their message since the start, 0: not told. Where nothing
	 * counts sends, it tells a rank that waits anew from one that stands still. */
	uint64_t num_posted;
};

/* `length` bytes, or up to a 0; cut off where too long, without control characters. */
void queued_comm_set_name(struct queued_comm *comm, const void *bytes, size_t length);

struct message_queues *message_queues_create(void);
void message_queues_destroy(struct message_queues *queues); /* NULL is fine */
/* Has the rank sent, posted a receive, got what it had posted one for, or received a message that
 * was there? Messages that arrive unasked are no doing of its own. Where pairs are not known, one
 * that was received and replaced by another like it is not noticed. */
bool message_queues_have_moved(const struct message_queues *before,
			       const struct message_queues *after);
