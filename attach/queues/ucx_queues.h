/* SPDX-License-Identifier: BSD-3-Clause
 * The message queues of an MPI library that gives its messages to UCX: of what UCX has
 * (ucx_tags.h) and what the library says that the tags mean. */
#ifndef PDB_ATTACH_UCX_QUEUES_H
#define PDB_ATTACH_UCX_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/queues/ucx_tags.h"

struct memory;
struct message_queues;
struct queued_comm;

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
	/* False: of no communicator of the program's or the library's, such as those that it
	 * uses to make others. */
	bool (*take)(const void *library, const struct ucx_tag *tag, struct ucx_message *ret);
	void (*describe)(const void *library, size_t comm, struct queued_comm *ret);
	/* The job's rank that each has, or MESSAGE_OTHER_PEER. False if they cannot be read. */
	bool (*read_ranks)(void *library, const struct ucx_member *members, size_t num,
			   int32_t *ranks);
};

/* Of a worker as of now, of a library that has so many communicators. NULL if it cannot be read.
 * The caller destroys. */
struct message_queues *ucx_queues_read(const struct memory *memory, const struct ucx_worker *worker,
				       size_t num_comms, const struct ucx_meaning *meaning,
				       void *library);

/* What is known of where a library's worker is; at first all is 0. */
struct ucx_place {
	struct ucx_worker worker;
	bool is_found;
	size_t num_missing; /* takes since it was last found */
};

/* Is the worker known, now? Else find() may look for it. A search reads much, so that there are
 * ever fewer where there is nothing to be found: at the first take, the second, the fourth and
 * so on. */
bool ucx_place_is_known(struct ucx_place *place, const struct memory *memory,
			bool (*find)(void *library, struct ucx_worker *ret), void *library);

#endif
