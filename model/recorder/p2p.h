/* SPDX-License-Identifier: BSD-3-Clause
 * Evidence of point-to-point calls and requests, for the lane's operation, its ledger and the table
 * of requests. Functions that take a message come before the call's event; those that take its
 * outcome come after it. Nothing here knows MPI. */
#pragma once

#include "model/recorder/ledger.h"
#include "model/recorder/operation.h"

struct p2p_message {
	uint32_t comm; /* index, or SEG_NO_COMM */
	int32_t peer;  /* or enum seg_peer */
	int32_t tag;   /* or SEG_TAG_ANY */
	uint64_t bytes;
};

/* What MPI_Status says, where it was asked for. */
struct p2p_status {
	bool is_known, is_cancelled;
	int32_t source, tag;
};

static const struct p2p_status p2p_unknown = {.is_known = false};

/* How a call has ended. */
enum p2p_end {
	P2P_DONE,
	P2P_REFUSED,   /* by MPI: nothing has happened */
	P2P_TRUNCATED, /* the message was longer than the buffer: it is gone */
};

/* No call in progress. `memory` has P2P_MEMORY bytes. */
static inline void p2p_init(struct p2p *p, void *memory)
{
	*p = (struct p2p){
		.rows = {LEDGER_NO_ROW, LEDGER_NO_ROW},
		.wildcard_comm = SEG_NO_COMM,
		.made = {REQUESTS_NONE, REQUESTS_NONE},
		.message = {.slot = REQUESTS_NONE},
		.keys = memory,
		.listed = (struct requests_ref *)((uint64_t *)memory + SEG_MAX_WAITED),
		.statuses = (char *)memory + P2P_MEMORY - P2P_MAX_STATUSES * P2P_STATUS_BYTES,
	};
}

/* What a slot says; its owner has the lock or is the only one to change it. */
static inline struct p2p_message p2p_message_of(const struct seg_request *slot)
{
	return (struct p2p_message){
		.comm = relaxed_get(&slot->comm),
		.peer = relaxed_get(&slot->peer),
		.tag = relaxed_get(&slot->tag),
		.bytes = relaxed_get(&slot->bytes),
	};
}

/* Not null, and not complete when the call returns that makes it. */
static inline bool p2p_is_request(uint64_t key)
{
	return key != REQUESTS_KEY_NULL && key != REQUESTS_KEY_COMPLETE;
}

/* A wildcard has got the message that the status tells of. */
static inline void p2p_taken(struct lane *l, uint32_t comm, const struct p2p_status *status)
{
	if (status->is_known)
		ledger_taken(l, comm, status->source, status->tag);
	else
		ledger_lost(l);
}

/* ---- Blocking ---- */

void p2p_send(struct lane *l, const struct p2p_message *m, uint32_t operation_flags);
void p2p_receive(struct lane *l, const struct p2p_message *m);
void p2p_sendreceive(struct lane *l, const struct p2p_message *send,
		     const struct p2p_message *receive);

/* Does the call in progress need a status, to know whose message a wildcard got? */
static inline bool p2p_wants_status(const struct lane *l)
{
	return l->p2p.wildcard_comm != SEG_NO_COMM;
}

/* After any of the three. */
void p2p_end(struct lane *l, enum p2p_end end, const struct p2p_status *status);

/* The call was left without returning: what it has counted did not happen. */
void p2p_abandon(struct lane *l);

void p2p_probe(struct lane *l, const struct p2p_message *m, enum operation_of of);

/* A matched probe got this message; key 0: none. */
void p2p_matched(struct lane *l, uint64_t key, uint32_t comm, const struct p2p_status *status);

/* ---- Making requests ---- */

/* The call will make a request: of a message, or as given (but for site, lane and ticks). Twice,
 * the send first: one that sends and receives. */
void p2p_will_send(struct lane *l, const struct p2p_message *m, uint32_t request_flags);
void p2p_will_receive(struct lane *l, const struct p2p_message *m, uint32_t request_flags);
void p2p_will_make(struct lane *l, const struct request *request);

/* The request of a message that a matched probe got. */
void p2p_will_receive_matched(struct lane *l, uint64_t message_key);

/* The call has returned, with this request. */
void p2p_made(struct lane *l, bool ok, uint64_t key);

/* ---- Starting, waiting, testing ---- */

/* List the requests that the call is about, in order; then look them up. */
struct p2p_list {
	uint64_t *keys;
	uint32_t num;
	bool differs; /* from the last one */
	bool is_cut;
};

static inline struct p2p_list p2p_list_begin(struct lane *l)
{
	return (struct p2p_list){.keys = l->p2p.keys};
}

static inline void p2p_list(struct p2p_list *list, uint64_t key)
{
	if (unlikely(list->num == SEG_MAX_WAITED)) {
		list->is_cut = true;
		return;
	}
	if (list->keys[list->num] != key) {
		list->keys[list->num] = key;
		list->differs = true;
	}
	list->num++;
}

static inline void p2p_list_end(struct lane *l, const struct p2p_list *list)
{
	struct p2p *p = &l->p2p;
	uint64_t changes = l->requests->changes;

	p->is_same = !list->differs && list->num == p->num_listed && p->changes == changes &&
		     p->num_unknown == 0 && !list->is_cut && !l->requests->is_shared;
	p->num_listed = list->num;
	p->is_cut = list->is_cut;
	p->changes = changes;
}

/* False: some are not known. */
bool p2p_look_up(struct lane *l);

/* True: what is listed there was not known, but by this key, and now is by the one listed. */
bool p2p_rename(struct lane *l, uint32_t position, uint64_t key);

/* The call starts those looked up; after it, it has. */
void p2p_start(struct lane *l);
void p2p_started(struct lane *l, bool ok);

/* The call waits for those listed, all or any, or a poll asks for them. False: as p2p_look_up(). */
bool p2p_wait(struct lane *l, enum seg_operation_kind kind, enum operation_of of);

/* Does what is listed at this position want a status? */
bool p2p_position_wants_status(const struct lane *l, uint32_t position);

/* Does any? Another thread may have cancelled one since it was listed. */
static inline bool p2p_any_wants_status(const struct lane *l)
{
	return l->p2p.wants_status || l->requests->is_shared;
}

/* Flags of what is listed at this position; 0: not a request, or not known. */
uint32_t p2p_position_flags(const struct lane *l, uint32_t position);

/* That request has completed. */
void p2p_complete(struct lane *l, uint32_t position, const struct p2p_status *status);

/* All that are listed have. False: those that want a status are still to be told of. */
bool p2p_complete_all(struct lane *l);

/* MPI_Cancel and MPI_Request_free were called for the first one looked up. */
void p2p_cancelled(struct lane *l);
void p2p_freed(struct lane *l);
