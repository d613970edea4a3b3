/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/p2p.h"

#include "model/recorder/recorder.h"

#define RELAXED memory_order_relaxed

void p2p_init(struct p2p *p, void *memory)
{
	*p = (struct p2p){
		.send_row = LEDGER_NO_ROW,
		.receive_row = LEDGER_NO_ROW,
		.wildcard_comm = SEG_NO_COMM,
		.message = {.slot = REQUESTS_NONE},
		.listed = memory,
		.statuses = (struct requests_ref *)memory + SEG_MAX_WAITED,
	};
}

static bool is_wildcard(int32_t peer, int32_t tag)
{
	return peer == SEG_PEER_ANY || tag == SEG_TAG_ANY;
}

/* The row counts the message before the call, so that nobody has it before it is counted. */
static uint64_t count_send(struct lane *l, const struct p2p_message *m)
{
	if (m->peer == SEG_PEER_NULL)
		return 0;
	l->p2p.send_row = ledger_row(l, m->comm, m->peer, m->tag);
	return ledger_sends(l, l->p2p.send_row);
}

static uint64_t count_receive(struct lane *l, const struct p2p_message *m)
{
	if (m->peer == SEG_PEER_NULL)
		return 0;
	l->p2p.receive_row = ledger_row(l, m->comm, m->peer, m->tag);
	return ledger_receives(l, l->p2p.receive_row);
}

static void transfer(struct operation *op, int i, const struct p2p_message *m, uint64_t ordinal)
{
	operation_transfer(op, i, m->comm, m->peer, m->tag, ordinal, m->bytes);
}

/* ---- Blocking ------------------------------------------------------------------------------------ */

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
		.ticks = atomic_load_explicit(&l->current->since, RELAXED),
		.row = LEDGER_NO_ROW,
	};
	requests_lock(l->requests, l->index);
	requests_add(l->requests, key, &message);
	requests_unlock(l->requests);
}

/* ---- Making requests ----------------------------------------------------------------------------- */

static void will_make(struct lane *l, enum seg_request_kind kind, uint32_t flags,
		      const struct p2p_message *m, uint64_t ordinal, uint32_t row)
{
	struct request *made = &l->p2p.made[l->p2p.num_made++];

	if (!(flags & SEG_REQUEST_PERSISTENT))
		flags |= SEG_REQUEST_ACTIVE;
	/* Word by word: the processor is slow to read as one what was stored in parts. */
	made->kind = kind;
	made->flags = flags;
	made->comm = m->comm;
	made->peer = m->peer;
	made->tag = m->tag;
	made->ordinal = ordinal;
	made->bytes = m->bytes;
	made->site = l->site;
	made->lane = l->index;
	made->row = row;
	operation_plain(l, SEG_OPERATION_LOCAL, OPERATION_CALL);
}

void p2p_will_make(struct lane *l, const struct request *request)
{
	const struct p2p_message m = {request->comm, request->peer, request->tag, request->bytes};

	will_make(l, request->kind, request->flags, &m, request->ordinal, request->row);
}

void p2p_will_send(struct lane *l, const struct p2p_message *m, uint32_t request_flags)
{
	uint64_t ordinal = request_flags & SEG_REQUEST_PERSISTENT ? 0 : count_send(l, m);

	will_make(l, SEG_REQUEST_SEND, request_flags, m, ordinal, l->p2p.send_row);
}

void p2p_will_receive(struct lane *l, const struct p2p_message *m, uint32_t request_flags)
{
	uint64_t ordinal = request_flags & SEG_REQUEST_PERSISTENT ? 0 : count_receive(l, m);

	will_make(l, SEG_REQUEST_RECV, request_flags, m, ordinal, l->p2p.receive_row);
}

/* What a slot says; its owner has the lock or is the only one to change it. */
static struct p2p_message message_of(const struct seg_request *slot)
{
	return (struct p2p_message){
		.comm = atomic_load_explicit(&slot->comm, RELAXED),
		.peer = atomic_load_explicit(&slot->peer, RELAXED),
		.tag = atomic_load_explicit(&slot->tag, RELAXED),
		.bytes = atomic_load_explicit(&slot->bytes, RELAXED),
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
	will_make(l, SEG_REQUEST_MATCHED, 0, &m, 0, LEDGER_NO_ROW);
}

static void complete_at_once(struct lane *l)
{
	struct p2p *p = &l->p2p;

	ledger_sent(l, p->send_row);
	ledger_received(l, p->receive_row);
	/* Whose message it got cannot be asked. */
	for (uint32_t i = 0; i < p->num_made; i++)
		if (p->made[i].kind == SEG_REQUEST_RECV && p->made[i].row != LEDGER_NO_ROW &&
		    is_wildcard(p->made[i].peer, p->made[i].tag))
			ledger_lost(l);
}

static void add_made(struct lane *l, uint64_t key)
{
	struct p2p *p = &l->p2p;

	for (uint32_t i = 0; i < p->num_made; i++)
		p->made[i].ticks = atomic_load_explicit(&l->current->since, RELAXED);
	if (p->num_made == 2)
		requests_add_halves(l->requests, key, p->made);
	else if (p->num_made == 1)
		requests_add(l->requests, key, &p->made[0]);
}

void p2p_made(struct lane *l, bool ok, uint64_t key)
{
	struct p2p *p = &l->p2p;

	if (!ok) {
		p2p_abandon(l);
		return;
	}
	requests_lock(l->requests, l->index);
	uint32_t message = requests_slot(l->requests, p->message);
	if (message != REQUESTS_NONE)
		requests_remove(l->requests, message);
	if (key == REQUESTS_KEY_NULL || key == REQUESTS_KEY_COMPLETE)
		complete_at_once(l);
	else
		add_made(l, key);
	requests_unlock(l->requests);
	forget_call(p);
}

/* ---- Starting ------------------------------------------------------------------------------------ */

void p2p_list_new(struct lane *l, uint64_t key)
{
	struct p2p *p = &l->p2p;
	struct requests_ref ref = {.slot = REQUESTS_NONE};

	p->is_same = false;
	if (p->num_listed == SEG_MAX_WAITED) {
		p->num_unknown++;
		return;
	}
	if (key != REQUESTS_KEY_NULL && key != REQUESTS_KEY_COMPLETE) {
		requests_lock(l->requests, l->index);
		ref = requests_ref(l->requests, requests_find(l->requests, key));
		requests_unlock(l->requests);
		p->num_unknown += ref.slot == REQUESTS_NONE;
	}
	if (p->num_listed < P2P_REMEMBERED)
		p->keys[p->num_listed] = key;
	p->listed[p->num_listed++] = ref;
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

	switch ((enum seg_request_kind)atomic_load_explicit(&s->kind, RELAXED)) {
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
		ordinal = comms_start(&recorder_comms, m.comm,
				      atomic_load_explicit(&s->site, RELAXED), m.peer, m.bytes);
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
	operation_plain(l, SEG_OPERATION_LOCAL, OPERATION_CALL);
}

static void take_back_start(struct lane *l, uint32_t slot)
{
	uint32_t kind = atomic_load_explicit(&l->requests->slots[slot].kind, RELAXED);
	uint32_t row = l->requests->own[slot].row;

	if (kind == SEG_REQUEST_SEND)
		ledger_not_sending(l, row);
	else if (kind == SEG_REQUEST_RECV)
		ledger_not_receiving(l, row);
}

void p2p_started(struct lane *l, bool ok)
{
	uint64_t now = atomic_load_explicit(&l->current->since, RELAXED);

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

/* ---- Waiting and testing ------------------------------------------------------------------------- */

static bool slot_wants_status(const struct seg_request *s)
{
	uint32_t flags = atomic_load_explicit(&s->flags, RELAXED);

	if (!(flags & SEG_REQUEST_ACTIVE))
		return false;
	return flags & SEG_REQUEST_CANCELLED ||
	       (atomic_load_explicit(&s->kind, RELAXED) == SEG_REQUEST_RECV &&
		is_wildcard(atomic_load_explicit(&s->peer, RELAXED),
			    atomic_load_explicit(&s->tag, RELAXED)));
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

	return slot != REQUESTS_NONE && slot_wants_status(&l->requests->slots[slot]);
}

/* Write one slot to WAITED, number `num` there. Returns the next number. */
static inline uint32_t waits_for(struct p2p *p, const struct requests *r, uint32_t slot,
				 uint32_t num)
{
	const struct seg_request *s = &r->slots[slot];

	p->wants_status |= slot_wants_status(s);
	if (!(atomic_load_explicit(&s->flags, RELAXED) & SEG_REQUEST_ACTIVE))
		return num;
	if (num < p->waited_room)
		atomic_store_explicit(&p->waited[num], slot, RELAXED);
	return num + 1;
}

/* Room in WAITED for what is listed, each perhaps in two halves. */
static __attribute__((noinline, cold)) void make_room(struct lane *l, uint32_t num)
{
	const struct seg_table *table = &l->seg->tables[SEG_LANE_WAITED];

	lane_has_room(l, SEG_LANE_WAITED, num < SEG_MAX_WAITED ? num : SEG_MAX_WAITED);
	l->p2p.waited = (void *)((char *)l->seg + table->offset);
	l->p2p.waited_room = table->allocated / table->entry_size;
}

void p2p_wait(struct lane *l, enum seg_operation_kind kind, enum operation_of of)
{
	struct p2p *p = &l->p2p;
	const struct requests *r = l->requests;
	uint32_t num = 0;

	if (p->is_same && p->num_listed == p->num_remembered && operation_is(l, kind, 0, of))
		return;
	p->wants_status = false;
	/* Before the section: it may take the recorder's lock. */
	if (__builtin_expect(p->num_listed * 2 > p->waited_room, 0))
		make_room(l, p->num_listed * 2);
	struct operation op = operation_begin(l, kind, 0, of);
	for (uint32_t i = 0; i < p->num_listed; i++) {
		uint32_t slot = slot_at(l, i);
		if (slot == REQUESTS_NONE)
			continue;
		num = waits_for(p, r, slot, num);
		if (__builtin_expect(r->own[slot].half != REQUESTS_NONE, 0))
			num = waits_for(p, r, r->own[slot].half, num);
	}
	operation_waited(&op, num < p->waited_room ? num : p->waited_room);
	if (p->num_unknown || num > p->waited_room)
		operation_flags(&op, SEG_OPERATION_INCOMPLETE);
	operation_end(&op);
}

/* The row in this lane's ledger: that of another lane is not ours to write to. */
static uint32_t own_row(struct lane *l, uint32_t slot, const struct p2p_message *m)
{
	uint32_t row = l->requests->own[slot].row;
	uint32_t lane = atomic_load_explicit(&l->requests->slots[slot].lane, RELAXED);

	return row == LEDGER_NO_ROW || lane == l->index ? row
							: ledger_row(l, m->comm, m->peer, m->tag);
}

static void count_completed(struct lane *l, uint32_t slot, const struct p2p_status *status)
{
	const struct seg_request *s = &l->requests->slots[slot];
	uint32_t kind = atomic_load_explicit(&s->kind, RELAXED);
	struct p2p_message m = message_of(s);

	if ((kind != SEG_REQUEST_SEND && kind != SEG_REQUEST_RECV) || status->is_cancelled)
		return;
	uint32_t row = own_row(l, slot, &m);
	if (kind == SEG_REQUEST_SEND) {
		ledger_sent(l, row);
		return;
	}
	ledger_received(l, row);
	if (row == LEDGER_NO_ROW || !is_wildcard(m.peer, m.tag))
		return;
	if (status->is_known)
		ledger_taken(l, m.comm, status->source, status->tag);
	else
		ledger_lost(l);
}

void p2p_complete(struct lane *l, uint32_t position, const struct p2p_status *status)
{
	struct requests *r = l->requests;
	uint32_t slot = slot_at(l, position);

	if (slot == REQUESTS_NONE)
		return;
	requests_lock(r, l->index);
	uint32_t flags = requests_flags(r, slot), half = r->own[slot].half;
	if (flags & SEG_REQUEST_ACTIVE) {
		count_completed(l, slot, status);
		/* Of such requests MPICH does not say whose message it was. */
		if (half != REQUESTS_NONE)
			count_completed(l, half, &(struct p2p_status){.is_known = false});
		if (flags & SEG_REQUEST_PERSISTENT)
			requests_set_flags(r, slot,
					   flags & ~(SEG_REQUEST_ACTIVE | SEG_REQUEST_CANCELLED));
		else
			requests_remove(r, slot);
	}
	requests_unlock(r);
	l->p2p.listed[position].slot = REQUESTS_NONE;
	l->p2p.changes = UINT64_MAX;
}

/* ---- Cancelling and freeing ---------------------------------------------------------------------- */

static void mark_cancelled(struct lane *l, uint32_t slot)
{
	struct p2p_message m = message_of(&l->requests->slots[slot]);

	ledger_cancelled(l, own_row(l, slot, &m));
	requests_set_flags(l->requests, slot,
			   requests_flags(l->requests, slot) | SEG_REQUEST_CANCELLED);
}

void p2p_cancelled(struct lane *l)
{
	uint32_t slot = slot_at(l, 0);

	if (slot == REQUESTS_NONE)
		return;
	requests_lock(l->requests, l->index);
	mark_cancelled(l, slot);
	if (l->requests->own[slot].half != REQUESTS_NONE)
		mark_cancelled(l, l->requests->own[slot].half);
	requests_unlock(l->requests);
}

/* Nobody will say when it completes, so it counts as completed now, nor what a receive with a
 * wildcard gets. */
static void count_freed(struct lane *l, uint32_t slot)
{
	const struct seg_request *s = &l->requests->slots[slot];
	struct p2p_message m = message_of(s);

	if (!(requests_flags(l->requests, slot) & SEG_REQUEST_ACTIVE))
		return;
	if (atomic_load_explicit(&s->kind, RELAXED) == SEG_REQUEST_SEND)
		ledger_sent(l, own_row(l, slot, &m));
	if (atomic_load_explicit(&s->kind, RELAXED) != SEG_REQUEST_RECV)
		return;
	ledger_received(l, own_row(l, slot, &m));
	if (is_wildcard(m.peer, m.tag))
		ledger_lost(l);
}

void p2p_freed(struct lane *l)
{
	uint32_t slot = slot_at(l, 0);

	if (slot == REQUESTS_NONE)
		return;
	requests_lock(l->requests, l->index);
	count_freed(l, slot);
	if (l->requests->own[slot].half != REQUESTS_NONE)
		count_freed(l, l->requests->own[slot].half);
	requests_remove(l->requests, slot);
	requests_unlock(l->requests);
}
