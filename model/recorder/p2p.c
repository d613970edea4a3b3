/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/p2p.h"

static bool is_wildcard(int32_t peer, int32_t tag)
{
	return peer == SEG_PEER_ANY || tag == SEG_TAG_ANY;
}

/* The row counts the message before the call, so that nobody has it before it is counted. */
static ALWAYS_INLINE uint64_t count(struct lane *l, enum ledger_way way,
				    const struct p2p_message *m)
{
	if (m->peer == SEG_PEER_NULL)
		return 0;
	l->p2p.rows[way] = ledger_row(l, m->comm, m->peer, m->tag);
	return ledger_start(l, way, l->p2p.rows[way]);
}

static ALWAYS_INLINE void transfer(struct operation *op, int i, const struct p2p_message *m,
				   uint64_t ordinal)
{
	operation_transfer(op, i, m->comm, m->peer, m->tag, ordinal, m->bytes);
}

/* ---- Blocking ---- */

void p2p_send(struct lane *l, const struct p2p_message *m, uint32_t operation_flags)
{
	uint64_t ordinal = count(l, LEDGER_SEND, m);
	struct operation op =
		operation_begin(l, SEG_OPERATION_SEND, operation_flags, OPERATION_CALL);

	transfer(&op, 0, m, ordinal);
	operation_end(&op);
}

void p2p_receive(struct lane *l, const struct p2p_message *m)
{
	uint64_t ordinal = count(l, LEDGER_RECEIVE, m);
	struct operation op = operation_begin(l, SEG_OPERATION_RECV, 0, OPERATION_CALL);

	transfer(&op, 0, m, ordinal);
	operation_end(&op);
	l->p2p.wildcard_comm = is_wildcard(m->peer, m->tag) ? m->comm : SEG_NO_COMM;
}

void p2p_sendreceive(struct lane *l, const struct p2p_message *send,
		     const struct p2p_message *receive)
{
	uint64_t ordinals[2] = {count(l, LEDGER_SEND, send), count(l, LEDGER_RECEIVE, receive)};
	struct operation op = operation_begin(l, SEG_OPERATION_SENDRECV, 0, OPERATION_CALL);

	transfer(&op, 0, send, ordinals[0]);
	transfer(&op, 1, receive, ordinals[1]);
	operation_end(&op);
	l->p2p.wildcard_comm =
		is_wildcard(receive->peer, receive->tag) ? receive->comm : SEG_NO_COMM;
}

static void forget_call(struct p2p *p)
{
	p->rows[0] = p->rows[1] = LEDGER_NO_ROW;
	p->wildcard_comm = SEG_NO_COMM;
	p->num_made = 0;
	p->takes_any = false;
	p->message.slot = REQUESTS_NONE;
}

static void take_back(struct lane *l)
{
	ledger_take_back(l, LEDGER_SEND, l->p2p.rows[LEDGER_SEND]);
	ledger_take_back(l, LEDGER_RECEIVE, l->p2p.rows[LEDGER_RECEIVE]);
}

static ALWAYS_INLINE void end_both(struct lane *l)
{
	ledger_end(l, LEDGER_SEND, l->p2p.rows[LEDGER_SEND]);
	ledger_end(l, LEDGER_RECEIVE, l->p2p.rows[LEDGER_RECEIVE]);
}

void p2p_end(struct lane *l, enum p2p_end end, const struct p2p_status *status)
{
	struct p2p *p = &l->p2p;

	if (end == P2P_REFUSED) {
		take_back(l);
	} else {
		end_both(l);
		if (p->wildcard_comm != SEG_NO_COMM)
			p2p_taken(l, p->wildcard_comm, status);
	}
	p->rows[0] = p->rows[1] = LEDGER_NO_ROW;
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
	p2p_taken(l, comm, status);
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

/* ---- Making requests ---- */

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

static NOINLINE void will_unusual(struct lane *l, enum ledger_way way, const struct p2p_message *m,
				  uint32_t request_flags)
{
	uint64_t ordinal = request_flags & SEG_REQUEST_PERSISTENT ? 0 : count(l, way, m);

	will_transfer(l, take_made(l), way == LEDGER_SEND ? SEG_REQUEST_SEND : SEG_REQUEST_RECV, m,
		      request_flags, ordinal, l->p2p.rows[way]);
}

/* The row of a request for which no function needs to be called, so that no registers are saved, a
 * good part of what it costs; or LEDGER_NO_ROW. */
static ALWAYS_INLINE uint32_t usual_row(const struct lane *l, const struct p2p_message *m,
					uint32_t request_flags)
{
	if (unlikely(request_flags & SEG_REQUEST_PERSISTENT ||
		     l->p2p.made[l->p2p.num_made] == REQUESTS_NONE || m->peer == SEG_PEER_NULL))
		return LEDGER_NO_ROW;
	return ledger_expected(l, m->comm, m->peer, m->tag);
}

static ALWAYS_INLINE void will(struct lane *l, enum ledger_way way, const struct p2p_message *m,
			       uint32_t request_flags)
{
	uint32_t row = usual_row(l, m, request_flags);

	if (unlikely(row == LEDGER_NO_ROW)) {
		will_unusual(l, way, m, request_flags);
		return;
	}
	l->row = l->p2p.rows[way] = row;
	will_transfer(l, l->p2p.made[l->p2p.num_made++],
		      way == LEDGER_SEND ? SEG_REQUEST_SEND : SEG_REQUEST_RECV, m, request_flags,
		      ledger_start(l, way, row), row);
}

void p2p_will_send(struct lane *l, const struct p2p_message *m, uint32_t request_flags)
{
	will(l, LEDGER_SEND, m, request_flags);
}

void p2p_will_receive(struct lane *l, const struct p2p_message *m, uint32_t request_flags)
{
	will(l, LEDGER_RECEIVE, m, request_flags);
}

void p2p_will_receive_matched(struct lane *l, uint64_t message_key)
{
	struct p2p_message m = {.comm = SEG_NO_COMM, .peer = SEG_PEER_ANY, .tag = SEG_TAG_ANY};

	requests_lock(l->requests, l->index);
	uint32_t slot = requests_find(l->requests, message_key);
	if (slot != REQUESTS_NONE)
		m = p2p_message_of(&l->requests->slots[slot]);
	l->p2p.message = requests_ref(l->requests, slot);
	requests_unlock(l->requests);
	will_transfer(l, take_made(l), SEG_REQUEST_MATCHED, &m, 0, 0, LEDGER_NO_ROW);
}

static void complete_at_once(struct lane *l)
{
	end_both(l);
	/* Whose message it got cannot be asked. */
	if (l->p2p.takes_any && l->p2p.rows[LEDGER_RECEIVE] != LEDGER_NO_ROW)
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
	if (p2p_is_request(key))
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
	if (ok && !p2p_is_request(key) && p->message.slot == REQUESTS_NONE && !p->takes_any) {
		end_both(l);
		forget_call(p);
		return;
	}
	/* One request, and no function to be called: see usual_row(). */
	if (unlikely(!ok || !p2p_is_request(key) || r->is_shared || p->num_made != 1 ||
		     slot == REQUESTS_NONE || p->message.slot != REQUESTS_NONE ||
		     r->free == REQUESTS_NONE || *first != 0)) {
		made_unusual(l, ok, key);
		return;
	}
	requests_link(r, first, key, slot, relaxed_get(&l->current->since));
	p->made[0] = requests_pop(r);
	forget_call(p);
}
