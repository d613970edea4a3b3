/* SPDX-License-Identifier: BSD-3-Clause
 * What UCX (libucp) holds of one process' messages: receives that no message has met and
 * messages that no receive has met, each with a tag of 64 bits that means what the MPI library
 * above makes of it. Read from memory while the process runs, without debug information: where
 * the queues are is found by what they look like. */
#ifndef PDB_ATTACH_UCX_TAGS_H
#define PDB_ATTACH_UCX_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory;

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

/* As of now. NULL if it is no worker any more, of a version that is not known, holds very much,
 * or changes too fast to be read. The caller destroys. */
struct ucx_tags *ucx_tags_read(const struct memory *memory, const struct ucx_worker *worker);
void ucx_tags_destroy(struct ucx_tags *tags); /* NULL is fine */

#endif
