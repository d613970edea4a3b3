/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/tokens.h"

/* A new request: in use at once. */
static ALWAYS_INLINE void add(struct lane *l, uint64_t key, struct request request)
{
	request.flags = SEG_REQUEST_ACTIVE;
	request.site = l->site;
	request.lane = l->index;
	request.ticks = relaxed_get(&l->current->since);
	requests_lock(l->requests, l->index);
	uint32_t slot = requests_add(l->requests, key, &request);
	if (request.kind == SEG_REQUEST_LOCK && slot != REQUESTS_NONE)
		l->requests->exclusive_locks += request.tag;
	requests_unlock(l->requests);
}

static void drop(struct lane *l, uint64_t key)
{
	requests_lock(l->requests, l->index);
	uint32_t slot = requests_find(l->requests, key);
	if (slot != REQUESTS_NONE)
		requests_remove(l->requests, slot);
	requests_unlock(l->requests);
}

/* ---- Tokens ---- */

void tokens_send(struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	uint32_t row = ledger_row(l, comm, peer, tag);

	ledger_start(l, LEDGER_SEND, row);
	ledger_end(l, LEDGER_SEND, row);
}

void tokens_take_back_send(struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	uint32_t row = ledger_row(l, comm, peer, tag);

	if (row == LEDGER_NO_ROW)
		return;
	ledger_take_back(l, LEDGER_SEND, row);
	lane_add(&l->ledger[row].sends_done, -1);
}

void tokens_expect(struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	uint32_t row = ledger_row(l, comm, peer, tag);

	add(l, tokens_key(l, comm, peer, tag),
	    (struct request){
		    .kind = SEG_REQUEST_RECV,
		    .comm = comm,
		    .peer = peer,
		    .tag = tag,
		    .ordinal = ledger_start(l, LEDGER_RECEIVE, row),
		    .row = row,
	    });
}

void tokens_take_back_expect(struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	ledger_take_back(l, LEDGER_RECEIVE, ledger_row(l, comm, peer, tag));
	drop(l, tokens_key(l, comm, peer, tag));
}

void tokens_list_collective(struct lane *l, struct p2p_list *list, uint32_t comm, int32_t root,
			    uint64_t number)
{
	uint64_t key = tokens_key(l, comm, 0, SEG_TAG_MANY);

	add(l, key,
	    (struct request){
		    .kind = SEG_REQUEST_COLLECTIVE,
		    .comm = comm,
		    .peer = root,
		    .ordinal = number,
		    .bytes = SEG_NO_BYTES,
		    .row = LEDGER_NO_ROW,
	    });
	p2p_list(list, key);
}

/* ---- Locks ----
 *
 * Some programs flush many windows in turn, and what is known of the lock of each is in no cache
 * any more. Most hold no exclusive lock: while that is so nothing is looked up. */

static uint64_t lock_key(uint32_t window, int32_t target)
{
	return requests_key(REQUESTS_LOCK, (uint64_t)window << 32 | (uint32_t)target);
}

static int32_t kind_of(const struct requests *r, uint32_t slot)
{
	return relaxed_get(&r->slots[slot].tag);
}

/* The lock of this target, or that of all. */
static int32_t find_kind(const struct requests *r, uint32_t window, int32_t target)
{
	uint32_t slot = requests_find(r, lock_key(window, target));

	if (slot == REQUESTS_NONE)
		slot = requests_find(r, lock_key(window, SEG_PEER_ANY));
	return slot == REQUESTS_NONE ? 0 : kind_of(r, slot);
}

static int32_t held_kind(struct lane *l, uint32_t window, int32_t target)
{
	int32_t kind = 0;

	requests_lock(l->requests, l->index);
	if (unlikely(l->requests->exclusive_locks > 0))
		kind = find_kind(l->requests, window, target);
	requests_unlock(l->requests);
	return kind;
}

void tokens_lock_operation(struct lane *l, uint32_t window, int32_t target, int32_t kind)
{
	if (kind == TOKENS_LOCK_HELD)
		kind = held_kind(l, window, target);
	struct operation op = operation_begin(l, SEG_OPERATION_LOCK, 0, OPERATION_CALL);
	operation_transfer(&op, 0, window, target, kind, 0, 0);
	operation_end(&op);
}

void tokens_locked(struct lane *l, uint32_t window, int32_t target, int32_t kind)
{
	add(l, lock_key(window, target),
	    (struct request){
		    .kind = SEG_REQUEST_LOCK,
		    .comm = window,
		    .peer = target,
		    .tag = kind,
		    .row = LEDGER_NO_ROW,
	    });
}

void tokens_unlocked(struct lane *l, uint32_t window, int32_t target)
{
	requests_lock(l->requests, l->index);
	uint32_t slot = requests_find(l->requests, lock_key(window, target));
	if (slot != REQUESTS_NONE) {
		l->requests->exclusive_locks -= kind_of(l->requests, slot);
		requests_remove(l->requests, slot);
	}
	requests_unlock(l->requests);
}
