/* SPDX-License-Identifier: BSD-3-Clause
 * Of p2p.h what becomes of requests that are there. */
#include "model/recorder/comms.h"
#include "model/recorder/p2p.h"

/* ---- Starting ---- */

/* Look up what is listed at a position: its slot, or REQUESTS_NONE. With the lock. */
static inline uint32_t look_up(struct p2p *p, const struct requests *r, uint32_t position)
{
	uint32_t slot = requests_find(r, p->keys[position]);

	p->listed[position] = requests_ref(r, slot);
	if (slot == REQUESTS_NONE)
		p->num_unknown += p2p_is_request(p->keys[position]);
	return slot;
}

bool p2p_look_up(struct lane *l)
{
	requests_lock(l->requests, l->index);
	l->p2p.num_unknown = 0;
	for (uint32_t i = 0; i < l->p2p.num_listed; i++)
		look_up(&l->p2p, l->requests, i);
	requests_unlock(l->requests);
	return l->p2p.num_unknown == 0;
}

bool p2p_rename(struct lane *l, uint32_t position, uint64_t key)
{
	struct requests *r = l->requests;
	const struct p2p *p = &l->p2p;
	uint32_t slot = REQUESTS_NONE;

	if (position >= p->num_listed || p->listed[position].slot != REQUESTS_NONE ||
	    !p2p_is_request(p->keys[position]) || !p2p_is_request(key))
		return false;
	requests_lock(r, l->index);
	if (requests_find(r, p->keys[position]) == REQUESTS_NONE)
		slot = requests_find(r, key);
	if (slot != REQUESTS_NONE)
		requests_rename(r, slot, p->keys[position]);
	requests_unlock(r);
	return slot != REQUESTS_NONE;
}

/* REQUESTS_NONE: null, not known, or another's since it was listed. */
static uint32_t slot_at(const struct lane *l, uint32_t position)
{
	const struct p2p *p = &l->p2p;

	return position < p->num_listed ? requests_slot(l->requests, p->listed[position])
					: REQUESTS_NONE;
}

static ALWAYS_INLINE uint64_t count_message(struct lane *l, enum ledger_way way,
					    const struct p2p_message *m, uint32_t *row)
{
	if (m->peer != SEG_PEER_NULL)
		*row = ledger_row(l, m->comm, m->peer, m->tag);
	return ledger_start(l, way, *row);
}

static void count_start(struct lane *l, uint32_t slot)
{
	const struct seg_request *s = &l->requests->slots[slot];
	enum seg_request_kind kind = relaxed_get(&s->kind);
	struct p2p_message m = p2p_message_of(s);
	uint32_t row = LEDGER_NO_ROW;
	uint64_t ordinal = 0;

	if (kind == SEG_REQUEST_SEND)
		ordinal = count_message(l, LEDGER_SEND, &m, &row);
	else if (kind == SEG_REQUEST_RECV)
		ordinal = count_message(l, LEDGER_RECEIVE, &m, &row);
	else if (kind == SEG_REQUEST_COLLECTIVE)
		ordinal = comms_start(&comms_here, m.comm, relaxed_get(&s->site), m.peer, m.bytes);
	requests_count(l->requests, slot, ordinal, l->index, row);
}

void p2p_start(struct lane *l)
{
	requests_lock(l->requests, l->index);
	for (uint32_t i = 0; i < l->p2p.num_listed; i++) {
		uint32_t slot = slot_at(l, i);
		if (slot != REQUESTS_NONE)
			count_start(l, slot);
	}
	requests_unlock(l->requests);
	operation_local(l);
}

static void take_back_start(struct lane *l, uint32_t slot)
{
	enum seg_request_kind kind = relaxed_get(&l->requests->slots[slot].kind);

	if (kind == SEG_REQUEST_SEND || kind == SEG_REQUEST_RECV)
		ledger_take_back(l, kind == SEG_REQUEST_SEND ? LEDGER_SEND : LEDGER_RECEIVE,
				 l->requests->own[slot].row);
}

void p2p_started(struct lane *l, bool ok)
{
	uint64_t now = relaxed_get(&l->current->since);

	requests_lock(l->requests, l->index);
	for (uint32_t i = 0; i < l->p2p.num_listed; i++) {
		uint32_t slot = slot_at(l, i);
		if (slot == REQUESTS_NONE)
			continue;
		if (ok)
			requests_activate(l->requests, slot, now);
		else
			take_back_start(l, slot);
	}
	requests_unlock(l->requests);
}

/* ---- Waiting and testing ---- */

/* Is there a question that only its status answers? */
static inline bool slot_wants_status(const struct requests *r, uint32_t slot, uint32_t flags)
{
	return (flags & SEG_REQUEST_ACTIVE) &&
	       (r->own[slot].takes_any || flags & SEG_REQUEST_CANCELLED);
}

uint32_t p2p_position_flags(const struct lane *l, uint32_t position)
{
	uint32_t slot = slot_at(l, position);

	return slot == REQUESTS_NONE ? 0 : requests_flags(l->requests, slot);
}

bool p2p_position_wants_status(const struct lane *l, uint32_t position)
{
	uint32_t slot = slot_at(l, position);

	return slot != REQUESTS_NONE &&
	       slot_wants_status(l->requests, slot, requests_flags(l->requests, slot));
}

/* Where p2p_wait() writes slots to. */
struct waited {
	_Atomic uint32_t *slots;
	uint32_t num, room; /* num may go beyond the room */
	bool wants_status;
};

static inline void waits_for(struct waited *w, const struct requests *r, uint32_t slot)
{
	uint32_t flags = requests_flags(r, slot);

	if (!(flags & SEG_REQUEST_ACTIVE))
		return;
	if (w->num < w->room)
		relaxed_set(&w->slots[w->num], slot);
	w->num++;
	w->wants_status |= slot_wants_status(r, slot, flags);
}

/* Room in WAITED for what is listed, each perhaps in two halves. */
static COLD void make_room(struct lane *l, uint32_t num)
{
	const struct seg_table *table = &l->seg->tables[SEG_LANE_WAITED];

	lane_has_room(l, SEG_LANE_WAITED, num < SEG_MAX_WAITED ? num : SEG_MAX_WAITED);
	l->p2p.waited = (void *)((char *)l->seg + table->offset);
	l->p2p.waited_room = table->allocated / table->entry_size;
}

bool p2p_wait(struct lane *l, enum seg_operation_kind kind, enum operation_of of)
{
	struct requests *r = l->requests;
	struct p2p *p = &l->p2p;
	uint32_t num_listed = p->num_listed;

	if (p->is_same && operation_is(l, kind, 0, of))
		return true;
	/* Before the section: it may take the recorder's lock. */
	if (unlikely(num_listed * 2 > p->waited_room))
		make_room(l, num_listed * 2);
	p->num_unknown = 0;
	struct waited waited = {.slots = p->waited, .room = p->waited_room};
	requests_lock(r, l->index);
	struct operation op = operation_begin(l, kind, 0, of);
	for (uint32_t i = 0; i < num_listed; i++) {
		uint32_t slot = look_up(p, r, i);
		if (slot == REQUESTS_NONE)
			continue;
		waits_for(&waited, r, slot);
		if (unlikely(r->own[slot].half != REQUESTS_NONE))
			waits_for(&waited, r, r->own[slot].half);
	}
	operation_waited(&op, waited.num < waited.room ? waited.num : waited.room);
	if (p->num_unknown || p->is_cut || waited.num > waited.room)
		operation_flags(&op, SEG_OPERATION_INCOMPLETE);
	operation_end(&op);
	requests_unlock(r);
	p->wants_status = waited.wants_status;
	return p->num_unknown == 0;
}

/* The row in this lane's ledger: that of another lane is not ours to write to. */
static inline uint32_t own_row(struct lane *l, uint32_t slot)
{
	const struct requests_own *own = &l->requests->own[slot];

	if (likely(own->row == LEDGER_NO_ROW || own->lane == l->index))
		return own->row;
	struct p2p_message m = p2p_message_of(&l->requests->slots[slot]);
	return ledger_row(l, m.comm, m.peer, m.tag);
}

static inline void count_completed(struct lane *l, uint32_t slot, const struct p2p_status *status)
{
	const struct requests_own *own = &l->requests->own[slot];

	if (status->is_cancelled)
		return;
	if (own->kind == SEG_REQUEST_SEND) {
		ledger_end(l, LEDGER_SEND, own_row(l, slot));
	} else if (own->kind == SEG_REQUEST_RECV) {
		uint32_t row = own_row(l, slot);
		ledger_end(l, LEDGER_RECEIVE, row);
		if (own->takes_any && row != LEDGER_NO_ROW)
			p2p_taken(l, relaxed_get(&l->requests->slots[slot].comm), status);
	}
}

/* Anything that can complete. */
static NOINLINE void complete_unusual(struct lane *l, uint32_t slot,
				      const struct p2p_status *status)
{
	struct requests *r = l->requests;
	uint32_t flags = requests_flags(r, slot), half = r->own[slot].half;

	if (!(flags & SEG_REQUEST_ACTIVE))
		return;
	count_completed(l, slot, status);
	/* Of such requests MPICH does not say whose message it was. */
	if (half != REQUESTS_NONE)
		count_completed(l, half, &p2p_unknown);
	if (flags & SEG_REQUEST_PERSISTENT)
		requests_set_flags(r, slot, flags & ~(SEG_REQUEST_ACTIVE | SEG_REQUEST_CANCELLED));
	else
		requests_remove(r, slot);
}

/* Nearly all requests: one message that this lane has counted, with a known partner, not cancelled.
 * Calls no function; see usual_row(). */
static ALWAYS_INLINE bool complete_usual(struct lane *l, uint32_t slot)
{
	struct requests *r = l->requests;
	const struct requests_own *own = &r->own[slot];
	const uint32_t flags = SEG_REQUEST_ACTIVE | SEG_REQUEST_PERSISTENT | SEG_REQUEST_CANCELLED;

	if (unlikely((requests_flags(r, slot) & flags) != SEG_REQUEST_ACTIVE || own->takes_any ||
		     own->half != REQUESTS_NONE || own->row == LEDGER_NO_ROW ||
		     own->lane != l->index || own->key == REQUESTS_KEY_NULL))
		return false;
	if (own->kind == SEG_REQUEST_SEND)
		lane_add(&l->ledger[own->row].sends_done, 1);
	else
		lane_add(&l->ledger[own->row].receives_done, 1);
	requests_unlink(r, slot);
	requests_release(r, slot);
	return true;
}

void p2p_complete(struct lane *l, uint32_t position, const struct p2p_status *status)
{
	struct requests *r = l->requests;

	requests_lock(r, l->index);
	uint32_t slot = slot_at(l, position);
	if (slot != REQUESTS_NONE) {
		l->p2p.listed[position].slot = REQUESTS_NONE;
		l->p2p.changes = UINT64_MAX;
		if (!complete_usual(l, slot))
			complete_unusual(l, slot, status);
	}
	requests_unlock(r);
}

bool p2p_complete_all(struct lane *l)
{
	struct requests *r = l->requests;
	struct p2p *p = &l->p2p;
	bool is_all = true;

	requests_lock(r, l->index);
	for (uint32_t i = 0, num = p->num_listed; i < num; i++) {
		uint32_t slot = requests_slot(r, p->listed[i]);
		if (slot == REQUESTS_NONE || complete_usual(l, slot))
			continue;
		if (slot_wants_status(r, slot, requests_flags(r, slot)))
			is_all = false;
		else
			complete_unusual(l, slot, &p2p_unknown);
	}
	p->changes = UINT64_MAX;
	requests_unlock(r);
	return is_all;
}

/* ---- Cancelling and freeing ---- */

/* With the lock: the first one looked up, and its other half. */
static uint32_t first_looked_up(const struct lane *l, uint32_t *half_ret)
{
	uint32_t slot = slot_at(l, 0);

	*half_ret = slot == REQUESTS_NONE ? REQUESTS_NONE : l->requests->own[slot].half;
	return slot;
}

static void mark_cancelled(struct lane *l, uint32_t slot)
{
	if (slot == REQUESTS_NONE)
		return;
	ledger_cancelled(l, own_row(l, slot));
	requests_set_flags(l->requests, slot,
			   requests_flags(l->requests, slot) | SEG_REQUEST_CANCELLED);
}

void p2p_cancelled(struct lane *l)
{
	uint32_t half;

	requests_lock(l->requests, l->index);
	mark_cancelled(l, first_looked_up(l, &half));
	mark_cancelled(l, half);
	requests_unlock(l->requests);
}

/* Nobody will say when it completes, so it has now, nor what a wildcard gets. */
static void count_freed(struct lane *l, uint32_t slot)
{
	if (slot != REQUESTS_NONE && (requests_flags(l->requests, slot) & SEG_REQUEST_ACTIVE))
		count_completed(l, slot, &p2p_unknown);
}

void p2p_freed(struct lane *l)
{
	uint32_t half;

	requests_lock(l->requests, l->index);
	uint32_t slot = first_looked_up(l, &half);
	count_freed(l, slot);
	count_freed(l, half);
	if (slot != REQUESTS_NONE)
		requests_remove(l->requests, slot);
	requests_unlock(l->requests);
}
