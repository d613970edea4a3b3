/* SPDX-License-Identifier: BSD-3-Clause
 * The message queues of an MPI library over UCX (libucp): what UCX holds, and what the library says
 * of the meaning of tags. Read from memory while the process runs, without debug information: UCX's
 * queues are recognized by their structure. */
#pragma once

#include "model/base.h"

struct memory;
struct queued_comm;

/* ---- What UCX has (ucx_tags.c) ----
 * Receives that no message has met and messages that no receive has met, each with a tag of 64 bits
 * that means what the MPI library above makes of it. */

struct ucx_tag {
	uint64_t tag;
	uint64_t mask; /* bits of the tag that a message must have; of a message all */
	/* among the receives, or among the messages: earlier ones have lower numbers */
	uint64_t number;
};

/* A worker: what receives messages, with their queues. */
struct ucx_worker {
	uint64_t address;
	uint64_t matching; /* where the queues begin */
	uint64_t variable; /* address of the word that points to it */
};

struct ucx_tags {
	struct ucx_tag *receives;
	size_t num_receives;
	struct ucx_tag *messages;
	size_t num_messages;
	uint64_t num_posted; /* receives that ever waited */
};

/* Look for the worker that the variables of an MPI library, words[num] at `address`, point to.
 * False: there is none (yet), or too much that looks like one. */
bool ucx_worker_find(const struct memory *memory, uint64_t address, const uint64_t *words,
		     size_t num, struct ucx_worker *ret);

/* Does the library still point to it? It may have made another one since. */
bool ucx_worker_is_current(const struct memory *memory, const struct ucx_worker *worker);

/* As of now, in the arena. NULL if it is no worker any more, of a version that is not known, holds
 * very much, or changes too fast to be read. */
struct ucx_tags *ucx_tags_read(const struct memory *memory, const struct ucx_worker *worker,
			       struct arena *arena);

/* ---- What that means (ucx_queues.c) ---- */

/* Somebody in a communicator. */
struct ucx_member {
	size_t comm;     /* one of the library's, in an order that stays */
	int32_t in_comm; /* rank there; MESSAGE_ANY_PEER */
};

/* What a tag means. */
struct ucx_message {
	struct ucx_member source;
	int32_t tag; /* as in struct queued_message */
};

/* What a library knows; `library` is what it is given. */
struct ucx_meaning {
	/* False: of a communicator that is not known, such as one for making others. */
	bool (*take)(const void *library, const struct ucx_tag *tag, struct ucx_message *ret);
	void (*describe)(const void *library, size_t comm, struct queued_comm *ret);
	/* The job's rank that each has, or MESSAGE_OTHER_PEER. False if they cannot be read. */
	bool (*read_ranks)(void *library, const struct ucx_member *members, size_t num,
			   int32_t *ranks);
};

/* As of now. NULL: it cannot be read. num_comms: of the library. The caller destroys. */
struct message_queues *ucx_queues_read(const struct memory *memory, const struct ucx_worker *worker,
				       size_t num_comms, const struct ucx_meaning *meaning,
				       void *library, struct arena *arena);

/* What is known of where a library's worker is; at first all is 0. */
struct ucx_place {
	struct ucx_worker worker;
	bool is_found;
	size_t num_missing; /* takes since it was last found */
};

/* Is the worker known, now? Else find() may look for it. A search reads much: where nothing is
 * found it comes at the first take, the second, the fourth and so on. */
bool ucx_place_is_known(struct ucx_place *place, const struct memory *memory,
			bool (*find)(void *library, struct ucx_worker *ret), void *library);
