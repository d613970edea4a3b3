/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/p2p.h"

#include "model/recorder/comms.h"

static inline bool is_request(uint64_t key)
{
	return key != REQUESTS_KEY_NULL && key != REQUESTS_KEY_COMPLETE;
}

static bool is_wildcard(int32_t peer, int32_t tag)
{
	return peer == SEG_PEER_ANY || tag == SEG_TAG_ANY;
}

/* The row counts the message before the call, so that nobody has it before it is counted. */
static ALWAYS_INLINE uint64_t count_send(struct lane *l, const struct p2p_message *m)
{
	if (m->peer == SEG_PEER_NULL)
		return 0;
	l->p2p.send_row = ledger_row(l, m->comm, m->peer, m->tag);
	return ledger_sends(l, l->p2p.send_row);
}

static ALWAYS_INLINE uint64_t count_receive(struct lane *l, const struct p2p_message *m)
{
	if (m->peer == SEG_PEER_NULL)
		return 0;
	l->p2p.receive_row = ledger_row(l, m->comm, m->peer, m->tag);
	return ledger_receives(l, l->p2p.receive_row);
}

static ALWAYS_INLINE void transfer(struct operation *op, int i, const struct p2p_message *m,
				   uint64_t ordinal)
{
	operation_transfer(op, i, m->comm, m->peer, m->tag, ordinal, m->bytes);
}

/* ---- Blocking
 * ------------------------------------------------------------------------------------ */

void p2p_send(struct lane *l, const struct p2p_message *m, uint32_t operation_flags)
{
	uint64_t ordinal = count_send(l, m);
	struct operation op =
		operation_begin(l, SEG_OPERATION_SEND, operation_flags, OPERATION_CALL);

	transfer(&op, 0, m, ordinal);
	operation_end(&op);
}

void p2p_receive(struct lane *l, const struct p2p_message *m)
{
	uint64_t ordinal = count_receive(l, m);
	struct operation op = operation_begin(l, SEG_OPERATION_RECV, 0, OPERATION_CALL);

	transfer(&op, 0, m, ordinal);
	operation_end(&op);
	l->p2p.wildcard_comm = is_wildcard(m->peer, m->tag) ? m->comm : SEG_NO_COMM;
}

void p2p_sendreceive(struct lane *l, const struct p2p_message *send,
		     const struct p2p_message *receive)
{
	uint64_t ordinals[2] = {count_send(l, send), count_receive(l, receive)};
	struct operation op = operation_begin(l, SEG_OPERATION_SENDRECV, 0, OPERATION_CALL);

	transfer(&op, 0, send, ordinals[0]);
	transfer(&op, 1, receive, ordinals[1]);
	operation_end(&op);
	l->p2p.wildcard_comm =
		is_wildcard(receive->peer, receive->tag) ? receive->comm : SEG_NO_COMM;
}

static void forget_call(struct p2p *p)
{
	p->send_row = p->receive_row = LEDGER_NO_ROW;
	p->wildcard_comm = SEG_NO_COMM;
	p->num_made = 0;
	p->takes_any = false;
	p->message.slot = REQUESTS_NONE;
}

static void take_back(struct lane *l)
{
	ledger_not_sending(l, l->p2p.send_row);
	ledger_not_receiving(l, l->p2p.receive_row);
}

void p2p_end(struct lane *l, enum p2p_end end, const struct p2p_status *status)
{
	struct p2p *p = &l->p2p;

	if (end == P2P_REFUSED) {
		take_back(l);
	} else {
		ledger_sent(l, p->send_row);
		ledger_received(l, p->receive_row);
		if (p->wildcard_comm != SEG_NO_COMM) {
			if (status->is_known)
				ledger_taken(l, p->wildcard_comm, status->source, status->tag);
			else
				ledger_lost(l);
		}
	}
	p->send_row = p->receive_row = LEDGER_NO_ROW;
	p->wildcard_comm = SEG_NO_COMM;
}

void p2p_abandon(struct lane *l)
{
	take_back(l);
	forget_call(&l->p2p);
}

void p2p_probe(struct lane *l, const struct p2p_message *m, enum operation_of of)
{
	struct operation op = operation_begin(l, SEG_OPERATION_PROBE, 0, of);

	transfer(&op, 0, m, 0);
	operation_end(&op);
}

void p2p_matched(struct lane *l, uint64_t key, uint32_t comm, const struct p2p_status *status)
{
	if (key == REQUESTS_KEY_NULL)
		return;
	if (status->is_known)
		ledger_taken(l, comm, status->source, status->tag);
	else
		ledger_lost(l);
	struct request message = {
		.kind = SEG_REQUEST_MATCHED,
		.flags = SEG_REQUEST_ACTIVE,
		.comm = comm,
		.peer = status->is_known ? status->source : SEG_PEER_ANY,
		.tag = status->is_known ? status->tag : SEG_TAG_ANY,
		.site = l->site,
		.lane = l->index,
		.ticks = relaxed_get(&l->current->since),
		.row = LEDGER_NO_ROW,
	};
	requests_lock(l->requests, l->index);
	requests_add(l->requests, key, &message);
	requests_unlock(l->requests);
}

/* ---- Making requests
 * ----------------------------------------------------------------------------- */

static COLD uint32_t take_slot(struct lane *l)
{
	requests_lock(l->requests, l->index);
	uint32_t slot = requests_take(l->requests);
	requests_unlock(l->requests);
	return slot;
}

/* A slot for one more request that the call makes; REQUESTS_NONE: there is no room. */
static uint32_t take_made(struct lane *l)
{
	struct p2p *p = &l->p2p;
	uint32_t *slot = &p->made[p->num_made++];

	if (unlikely(*slot == REQUESTS_NONE))
		*slot = take_slot(l);
	return *slot;
}

static ALWAYS_INLINE void will_make(struct lane *l, uint32_t slot, const struct request *request)
{
	if (likely(slot != REQUESTS_NONE))
		requests_fill(l->requests, slot, request);
	l->p2p.takes_any |= request_takes_any(request);
	operation_local(l);
}

void p2p_will_make(struct lane *l, const struct request *request)
{
	struct request own = *request;

	if (!(own.flags & SEG_REQUEST_PERSISTENT))
		own.flags |= SEG_REQUEST_ACTIVE;
	own.site = l->site;
	own.lane = l->index;
	will_make(l, take_made(l), &own);
}

static ALWAYS_INLINE void will_transfer(struct lane *l, uint32_t slot, enum seg_request_kind kind,
					const struct p2p_message *m, uint32_t flags,
					uint64_t ordinal, uint32_t row)
{
	bool is_persistent = flags & SEG_REQUEST_PERSISTENT;

	will_make(l, slot,
		  &(struct request){
			  .kind = kind,
			  .flags = is_persistent ? flags : flags | SEG_REQUEST_ACTIVE,
			  .comm = m->comm,
			  .peer = m->peer,
			  .tag = m->tag,
			  .ordinal = ordinal,
			  .bytes = m->bytes,
			  .site = l->site,
			  .lane = l->index,
			  .row = row,
		  });
}

static NOINLINE void will_send_unusual(struct lane *l, const struct p2p_message *m,
				       uint32_t request_flags)
{
	uint64_t ordinal = request_flags & SEG_REQUEST_PERSISTENT ? 0 : count_send(l, m);

	will_transfer(l, take_made(l), SEG_REQUEST_SEND, m, request_flags, ordinal,
		      l->p2p.send_row);
}

static NOINLINE void will_receive_unusual(struct lane *l, const struct p2p_message *m,
					  uint32_t request_flags)
{
	uint64_t ordinal = request_flags & SEG_REQUEST_PERSISTENT ? 0 : count_receive(l, m);

	will_transfer(l, take_made(l), SEG_REQUEST_RECV, m, request_flags, ordinal,
		      l->p2p.receive_row);
}

/* The row of a request for which no function needs to be called; or LEDGER_NO_ROW. One that calls
 * none has no registers to save, which is a good part of what it costs. */
static ALWAYS_INLINE uint32_t usual_row(const struct lane *l, const struct p2p_message *m,
					uint32_t request_flags)
{
	if (unlikely(request_flags & SEG_REQUEST_PERSISTENT ||
		     l->p2p.made[l->p2p.num_made] == REQUESTS_NONE || m->peer == SEG_PEER_NULL))
		return LEDGER_NO_ROW;
	return ledger_expected(l, m->comm, m->peer, m->tag);
}

void p2p_will_send(struct lane *l, const struct p2p_message *m, uint32_t request_flags)
{
	uint32_t row = usual_row(l, m, request_flags);

	if (unlikely(row == LEDGER_NO_ROW)) {
		will_send_unusual(l, m, request_flags);
		return;
	}
	l->row = l->p2p.send_row = row;
	will_transfer(l, l->p2p.made[l->p2p.num_made++], SEG_REQUEST_SEND, m, request_flags,
		      lane_add(&l->ledger[row].sends, 1), row);
}

void p2p_will_receive(struct lane *l, const struct p2p_message *m, uint32_t request_flags)
{
	uint32_t row = usual_row(l, m, request_flags);

	if (unlikely(row == LEDGER_NO_ROW)) {
		will_receive_unusual(l, m, request_flags);
		return;
	}
	l->row = l->p2p.receive_row = row;
	will_transfer(l, l->p2p.made[l->p2p.num_made++], SEG_REQUEST_RECV, m, request_flags,
		      lane_add(&l->ledger[row].receives, 1), row);
}

/* What a slot says; its owner has the lock or is the only one to change it. */
static struct p2p_message message_of(const struct seg_request *slot)
{
	return (struct p2p_message){
		.comm = relaxed_get(&slot->comm),
		.peer = relaxed_get(&slot->peer),
		.tag = relaxed_get(&slot->tag),
		.bytes = relaxed_get(&slot->bytes),
	};
}

void p2p_will_receive_matched(struct lane *l, uint64_t message_key)
{
	struct p2p_message m = {.comm = SEG_NO_COMM, .peer = SEG_PEER_ANY, .tag = SEG_TAG_ANY};

	requests_lock(l->requests, l->index);
	uint32_t slot = requests_find(l->requests, message_key);
	if (slot != REQUESTS_NONE)
		m = message_of(&l->requests->slots[slot]);
	l->p2p.message = requests_ref(l->requests, slot);
	requests_unlock(l->requests);
	will_transfer(l, take_made(l), SEG_REQUEST_MATCHED, &m, 0, 0, LEDGER_NO_ROW);
}

static void complete_at_once(struct lane *l)
{
	const struct p2p *p = &l->p2p;

	ledger_sent(l, p->send_row);
	ledger_received(l, p->receive_row);
	/* Whose message it got cannot be asked. */
	if (p->takes_any && p->receive_row != LEDGER_NO_ROW)
		ledger_lost(l);
}

/* The lane has new slots after this, so that the next call need not take the lock for one. */
static void use_made(struct lane *l, uint64_t key)
{
	struct requests *r = l->requests;
	struct p2p *p = &l->p2p;
	uint64_t now = relaxed_get(&l->current->since);

	if (likely(p->num_made == 1 && p->made[0] != REQUESTS_NONE)) {
		requests_use(r, key, p->made[0], now);
		p->made[0] = requests_take(r);
	} else if (p->num_made > 0) {
		requests_use_all(r, key, p->made, p->num_made, now);
		for (uint32_t i = 0; i < p->num_made; i++)
			p->made[i] = requests_take(r);
	}
}

static inline void remove_received(struct lane *l)
{
	uint32_t message = requests_slot(l->requests, l->p2p.message);

	if (message != REQUESTS_NONE)
		requests_remove(l->requests, message);
}

static NOINLINE void made_unusual(struct lane *l, bool ok, uint64_t key)
{
	struct p2p *p = &l->p2p;

	if (!ok) {
		p2p_abandon(l);
		return;
	}
	requests_lock(l->requests, l->index);
	if (unlikely(p->message.slot != REQUESTS_NONE))
		remove_received(l);
	if (is_request(key))
		use_made(l, key);
	else
		complete_at_once(l);
	requests_unlock(l->requests);
	forget_call(p);
}

void p2p_made(struct lane *l, bool ok, uint64_t key)
{
	struct requests *r = l->requests;
	struct p2p *p = &l->p2p;
	uint32_t slot = p->made[0], *first = requests_bucket(r, key);

	/* Small messages are often sent at once. */
	if (ok && !is_request(key) && p->message.slot == REQUESTS_NONE && !p->takes_any) {
		ledger_sent(l, p->send_row);
		ledger_received(l, p->receive_row);
		forget_call(p);
		return;
	}
	/* One request, and no function to be called: see usual_row(). */
	if (unlikely(!ok || !is_request(key) || r->is_shared || p->num_made != 1 ||
		     slot == REQUESTS_NONE || p->message.slot != REQUESTS_NONE ||
		     r->free == REQUESTS_NONE || *first != 0)) {
		made_unusual(l, ok, key);
		return;
	}
	requests_link(r, first, key, slot, relaxed_get(&l->current->since));
	p->made[0] = requests_pop(r);
	forget_call(p);
}

/* ---- Starting
 * ------------------------------------------------------------------------------------ */

/* Look up what is listed at a position: its slot, or REQUESTS_NONE. With the lock. */
static inline uint32_t look_up(struct p2p *p, const struct requests *r, uint32_t position)
{
	uint32_t slot = requests_find(r, p->keys[position]);

	p->listed[position] = requests_ref(r, slot);
	if (slot == REQUESTS_NONE)
		p->num_unknown += is_request(p->keys[position]);
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
	    !is_request(p->keys[position]) || !is_request(key))
		return false;
	requests_lock(r, l->index);
	if (requests_find(r, p->keys[position]) == REQUESTS_NONE)
		slot = requests_find(r, key);
	if (slot != REQUESTS_NONE)
		requests_rename(r, slot, p->keys[position]);
	requests_unlock(r);
	return slot != REQUESTS_NONE;
}

/* REQUESTS_NONE: null, not known, or given to another request since it was listed. */
static uint32_t slot_at(const struct lane *l, uint32_t position)
{
	const struct p2p *p = &l->p2p;

	return position < p->num_listed ? requests_slot(l->requests, p->listed[position])
					: REQUESTS_NONE;
}

static void count_start(struct lane *l, uint32_t slot)
{
	const struct seg_request *s = &l->requests->slots[slot];
	struct p2p_message m = message_of(s);
	uint32_t row = LEDGER_NO_ROW;
	uint64_t ordinal = 0;

	switch ((enum seg_request_kind)relaxed_get(&s->kind)) {
	case SEG_REQUEST_SEND:
		row = m.peer == SEG_PEER_NULL ? LEDGER_NO_ROW
					      : ledger_row(l, m.comm, m.peer, m.tag);
		ordinal = ledger_sends(l, row);
		break;
	case SEG_REQUEST_RECV:
		row = m.peer == SEG_PEER_NULL ? LEDGER_NO_ROW
					      : ledger_row(l, m.comm, m.peer, m.tag);
		ordinal = ledger_receives(l, row);
		break;
	case SEG_REQUEST_COLLECTIVE:
		ordinal = comms_start(&comms_here, m.comm, relaxed_get(&s->site), m.peer, m.bytes);
		break;
	default:
		break;
	}
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
	uint32_t kind = relaxed_get(&l->requests->slots[slot].kind);
	uint32_t row = l->requests->own[slot].row;

	if (kind == SEG_REQUEST_SEND)
		ledger_not_sending(l, row);
	else if (kind == SEG_REQUEST_RECV)
		ledger_not_receiving(l, row);
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

/* ---- Waiting and testing
 * ------------------------------------------------------------------------- */

/* Is there a question that only its status answers? */
static inline bool slot_wants_status(const struct requests *r, uint32_t slot, uint32_t flags)
{
	return (flags & SEG_REQUEST_ACTIVE) &&
	       (r->own[slot].takes_any || flags & SEG_REQUEST_CANCELLED);
}

static bool has_flag(const struct lane *l, uint32_t position, uint32_t flag)
{
	uint32_t slot = slot_at(l, position);

	return slot != REQUESTS_NONE && (requests_flags(l->requests, slot) & flag);
}

bool p2p_position_is_active(const struct lane *l, uint32_t position)
{
	return has_flag(l, position, SEG_REQUEST_ACTIVE);
}

bool p2p_position_is_persistent(const struct lane *l, uint32_t position)
{
	return has_flag(l, position, SEG_REQUEST_PERSISTENT);
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
	struct p2p_message m = message_of(&l->requests->slots[slot]);
	return ledger_row(l, m.comm, m.peer, m.tag);
}

static void count_taken(struct lane *l, uint32_t slot, const struct p2p_status *status)
{
	if (status->is_known)
		ledger_taken(l, message_of(&l->requests->slots[slot]).comm, status->source,
			     status->tag);
	else
		ledger_lost(l);
}

static inline void count_completed(struct lane *l, uint32_t slot, const struct p2p_status *status)
{
	const struct requests_own *own = &l->requests->own[slot];

	if (status->is_cancelled)
		return;
	if (own->kind == SEG_REQUEST_SEND) {
		ledger_sent(l, own_row(l, slot));
	} else if (own->kind == SEG_REQUEST_RECV) {
		uint32_t row = own_row(l, slot);
		ledger_received(l, row);
		if (own->takes_any && row != LEDGER_NO_ROW)
			count_taken(l, slot, status);
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
		count_completed(l, half, &(struct p2p_status){.is_known = false});
	if (flags & SEG_REQUEST_PERSISTENT)
		requests_set_flags(r, slot, flags & ~(SEG_REQUEST_ACTIVE | SEG_REQUEST_CANCELLED));
	else
		requests_remove(r, slot);
}

/* Nearly all requests: of one message that this lane has counted, whose partner is known, and not
 * cancelled. Calls no function; see usual_row(). */
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
	static const struct p2p_status none = {.is_known = false};
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
			complete_unusual(l, slot, &none);
	}
	p->changes = UINT64_MAX;
	requests_unlock(r);
	return is_all;
}

/* ---- Cancelling and freeing
 * ---------------------------------------------------------------------- */

static void mark_cancelled(struct lane *l, uint32_t slot)
{
	ledger_cancelled(l, own_row(l, slot));
	requests_set_flags(l->requests, slot,
			   requests_flags(l->requests, slot) | SEG_REQUEST_CANCELLED);
}

void p2p_cancelled(struct lane *l)
{
	requests_lock(l->requests, l->index);
	uint32_t slot = slot_at(l, 0);
	if (slot != REQUESTS_NONE) {
		mark_cancelled(l, slot);
		if (l->requests->own[slot].half != REQUESTS_NONE)
			mark_cancelled(l, l->requests->own[slot].half);
	}
	requests_unlock(l->requests);
}

/* Nobody will say when it completes, so it counts as completed now, nor what a receive with a
 * wildcard gets. */
static void count_freed(struct lane *l, uint32_t slot)
{
	const struct p2p_status unknown = {.is_known = false};

	if (requests_flags(l->requests, slot) & SEG_REQUEST_ACTIVE)
		count_completed(l, slot, &unknown);
}

void p2p_freed(struct lane *l)
{
	requests_lock(l->requests, l->index);
	uint32_t slot = slot_at(l, 0);
	if (slot != REQUESTS_NONE) {
		count_freed(l, slot);
		if (l->requests->own[slot].half != REQUESTS_NONE)
			count_freed(l, l->requests->own[slot].half);
		requests_remove(l->requests, slot);
	}
	requests_unlock(l->requests);
}
