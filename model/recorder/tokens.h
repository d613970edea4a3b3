/* SPDX-License-Identifier: BSD-3-Clause
 * Tokens: what ranks tell each other, other than messages, before a call can go on. They are
 * counted like messages, with the tags SEG_TAG_POST and below. Also locks of windows. Nothing here
 * knows MPI. */
#pragma once

#include "model/recorder/p2p.h"

/* The peer is told, by this call or by one that returns; taken back when MPI refuses. */
void tokens_send(struct lane *l, uint32_t comm, int32_t peer, int32_t tag);
void tokens_take_back_send(struct lane *l, uint32_t comm, int32_t peer, int32_t tag);

/* A token of the peer is needed: there is a request for it from now on. */
void tokens_expect(struct lane *l, uint32_t comm, int32_t peer, int32_t tag);

/* The key of that request. What a thread waits for within one call is its own; epochs of a
 * window are of the process. */
static inline uint64_t tokens_key(const struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	bool within_call = tag != SEG_TAG_POST && tag != SEG_TAG_COMPLETE;
	uint64_t lane = within_call ? l->index + 1 : 0;

	_Static_assert(SEG_MAX_COMMS <= 1 << 14 && SEG_MAX_LANES < 1 << 13, "bits of the key");
	return requests_key(REQUESTS_TOKEN, lane << 49 | (uint64_t)-tag << 46 |
						    (uint64_t)comm << 32 | (uint32_t)peer);
}

/* List it for p2p_wait() and, when all have come, p2p_complete_all(). */
static inline void tokens_list(struct lane *l, struct p2p_list *list, uint32_t comm, int32_t peer,
			       int32_t tag)
{
	p2p_list(list, tokens_key(l, comm, peer, tag));
}

/* It is not needed any more, though it did not come. */
void tokens_take_back_expect(struct lane *l, uint32_t comm, int32_t peer, int32_t tag);

/* The operation of a call about the lock of a window's target (SEG_PEER_ANY: of all). `kind`: 1 if
 * exclusive, as in struct seg_request, or the one held. */
enum { TOKENS_LOCK_HELD = -1 };
void tokens_lock_operation(struct lane *l, uint32_t window, int32_t target, int32_t kind);

/* The lock is held, or no more. */
void tokens_locked(struct lane *l, uint32_t window, int32_t target, int32_t kind);
void tokens_unlocked(struct lane *l, uint32_t window, int32_t target);

/* The collective with that number is needed, and perhaps more: list it like a token. */
void tokens_list_collective(struct lane *l, struct p2p_list *list, uint32_t comm, int32_t root,
			    uint64_t number);
