/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "model/job/model.h"
#include "model/wire/share_read.h"
#include "model/xalloc.h"

static void read_state(struct share_reader *r, struct model_lane *lane)
{
	uint64_t flags = decoder_take_below(&r->in, 15);

	lane->is_main = flags & 1;
	lane->has_ended = flags & 2;
	lane->is_consistent = flags & 4;
	lane->in_poll = flags & 8;
	lane->state = (uint32_t)decoder_take_below(&r->in, UINT32_MAX);
	lane->poll_site = (uint32_t)decoder_take_below(&r->in, UINT32_MAX);
	share_reader_end(r);
}

static void read_times(struct share_reader *r, const struct model *model, struct model_lane *lane)
{
	struct decoder *in = &r->in;
	int64_t tid = model->pid + decoder_take_signed(in, -(int64_t)UINT32_MAX, UINT32_MAX);
	uint64_t ago;

	if (tid < INT32_MIN || tid > INT32_MAX)
		in->is_bad = true;
	lane->tid = (int32_t)tid;
	lane->since_ns = model->now_ns - decoder_take_below(in, model->now_ns);
	lane->first_ns = model->now_ns - decoder_take_below(in, model->now_ns);
	lane->events = decoder_take(in);
	lane->last_events = lane->events + decoder_take(in);
	lane->polls = decoder_take(in);
	ago = decoder_take(in);
	if (ago > 0 && ago - 1 > model->now_ns)
		in->is_bad = true;
	else if (ago > 0)
		lane->last_poll_ns = model->now_ns - (ago - 1);
	share_reader_end(r);
}

static uint32_t take_state(struct decoder *in, uint32_t before)
{
	int64_t state = before + decoder_take_signed(in, -(int64_t)UINT32_MAX, UINT32_MAX);

	if (state < 0 || state > UINT32_MAX)
		in->is_bad = true;
	return (uint32_t)state;
}

/* ---- Tables of the pool ---- */

static void use_states(struct share_loan *loan, uint32_t state)
{
	if (state >= loan->num_needed)
		loan->num_needed = state + 1;
}

/* NULL: bad. */
static void *make_transitions(struct share_reader *r, struct share_loan *loan, uint32_t item,
			      uint32_t counts)
{
	struct decoder *in = &r->in;
	struct model_transition *made;
	uint32_t before = 0;

	share_reader_begin_item(r, SHARE_TRANSITIONS, item);
	loan->num = decoder_take_count(in, MODEL_MAX_TRANSITIONS, 2);
	made = share_reader_take(r, loan->num, sizeof(*made));
	for (size_t i = 0; i < loan->num && !in->is_bad; i++) {
		made[i].from = take_state(in, before);
		before = made[i].to = take_state(in, made[i].from);
		use_states(loan, made[i].from);
		use_states(loan, before);
	}
	share_reader_end(r);
	share_reader_begin_item(r, SHARE_COUNTS, counts);
	for (size_t i = 0; i < loan->num && !in->is_bad; i++) {
		made[i].count = decoder_take(in);
		if (made[i].count == 0)
			in->is_bad = true;
	}
	share_reader_end(r);
	return in->is_bad ? NULL : made;
}

static void borrow_transitions(struct share_reader *r, const struct model *model,
			       struct model_lane *lane, size_t number, int rank)
{
	uint32_t item = share_reader_item(r, SHARE_TRANSITIONS, rank, number);
	uint32_t counts = share_reader_item(r, SHARE_COUNTS, rank, number), found;
	struct share_loan *loan;

	if (r->in.is_bad)
		return;
	found = pair_map_get(&r->transition_of, pair_key(item, counts));
	if (found == PAIR_NONE) {
		found = (uint32_t)r->num_transitions++;
		r->transitions = xgrow(r->transitions, found, &r->transitions_capacity,
				       sizeof(*r->transitions));
		loan = &r->transitions[found];
		*loan = (struct share_loan){0};
		loan->table = make_transitions(r, loan, item, counts);
		pair_map_add(&r->transition_of, pair_key(item, counts), found);
	}
	loan = &r->transitions[found];
	if (loan->num_needed > 2 * model->num_sites)
		r->in.is_bad = true;
	if (r->in.is_bad)
		return;
	lane->transitions = loan->table;
	lane->num_transitions = loan->num;
}

/* Entries of the ring, with the repetition that comes next. */
static size_t take_entries(struct decoder *in, struct model_event *ring, size_t i, size_t num)
{
	uint64_t state = decoder_take(in);
	size_t distance, length;

	if (state > 0) {
		if (state > UINT32_MAX)
			in->is_bad = true;
		ring[i].state = (uint32_t)(state - 1);
		return i + 1;
	}
	distance = decoder_take_below(in, i);
	length = decoder_take_below(in, num - i);
	if (distance == 0 || length == 0)
		in->is_bad = true;
	if (in->is_bad)
		return num;
	for (size_t last = i + length; i < last; i++)
		ring[i].state = ring[i - distance].state;
	return i;
}

/* The times are not among the answers: 0. */
static struct model_event *read_ring(struct share_reader *r, size_t *num_ret)
{
	struct decoder *in = &r->in;
	size_t num = decoder_take_below(in, SEG_MAX_RING), i = 0;
	struct model_event *ring;

	if (r->rings)
		ring = share_reader_take(r, num, sizeof(*ring));
	else
		ring = decoder_allocate(in, num, sizeof(*ring));
	while (i < num && !in->is_bad)
		i = take_entries(in, ring, i, num);
	share_reader_end(r);
	*num_ret = in->is_bad ? 0 : num;
	return ring;
}

static void borrow_ring(struct share_reader *r, const struct model *model, struct model_lane *lane,
			uint32_t item)
{
	struct share_loan *loan = &r->rings[item];

	if (!loan->table) {
		struct model_event *ring;

		share_reader_begin_item(r, SHARE_RING_STATES, item);
		loan->table = ring = read_ring(r, &loan->num);
		for (size_t i = 0; i < loan->num; i++)
			use_states(loan, ring[i].state);
	}
	if (loan->num_needed > 2 * model->num_sites)
		r->in.is_bad = true;
	lane->ring = loan->table;
	lane->num_ring = loan->num;
}

static void read_ring_states(struct share_reader *r, const struct model *model,
			     struct model_lane *lane, size_t number, int rank)
{
	uint32_t item = share_reader_item(r, SHARE_RING_STATES, rank, number);

	if (r->in.is_bad)
		return;
	if (r->rings) {
		borrow_ring(r, model, lane, item);
		return;
	}
	share_reader_begin_item(r, SHARE_RING_STATES, item);
	lane->ring = read_ring(r, &lane->num_ring);
}

/* Nor are polls by state: none. */
static void allocate_polls(struct share_reader *r, const struct model *model,
			   struct model_lane *lane, int rank)
{
	size_t num_states = 2 * model->num_sites;
	struct share_loan *loan;

	if (!r->polls) {
		lane->state_polls =
			decoder_allocate(&r->in, num_states, sizeof(*lane->state_polls));
		return;
	}
	loan = &r->polls[share_reader_item(r, SHARE_SHAPE, rank, 0)];
	if (!loan->table)
		loan->table = share_reader_take(r, num_states, sizeof(*lane->state_polls));
	lane->state_polls = loan->table;
}

static void *make_ledger(struct share_reader *r, struct share_loan *loan)
{
	struct decoder *in = &r->in;
	struct model_ledger *ledger;

	loan->num = decoder_take_count(in, SEG_MAX_LEDGER, 9);
	ledger = share_reader_take(r, loan->num, sizeof(*ledger));
	for (size_t i = 0; i < loan->num && !in->is_bad; i++) {
		struct model_ledger *row = &ledger[i];

		row->comm = decoder_take_index(in, UINT32_MAX);
		share_reader_ledger_peer(r, row);
		row->tag = decoder_take_int(in);
		row->cancelled = (uint32_t)decoder_take_below(in, UINT32_MAX);
		row->sends = decoder_take(in);
		row->sends_done = decoder_take(in);
		row->receives = decoder_take(in);
		row->receives_done = decoder_take(in);
		row->taken = decoder_take(in);
		if (row->comm == SEG_NO_COMM)
			continue;
		if (row->comm >= loan->num_needed)
			loan->num_needed = row->comm + 1;
		if (row->tag < SEG_TAG_GROUP || (!row->is_distance && row->peer < SEG_PEER_NONE))
			in->is_bad = true;
	}
	share_reader_end(r);
	return ledger;
}

static void read_stay(struct share_reader *r, const struct model *model, struct model_lane *lane)
{
	uint64_t state = decoder_take(&r->in);

	lane->longest.ns = decoder_take(&r->in);
	if (state >= 2 * model->num_sites)
		r->in.is_bad = true;
	else
		lane->longest.state = (uint32_t)state;
	share_reader_end(r);
}

static void read_operation(struct share_reader *r, const struct model *model,
			   struct model_operation *operation)
{
	struct decoder *in = &r->in;
	size_t num;

	operation->kind = (enum seg_operation_kind)decoder_take_below(in, SEG_OPERATION_LOCAL);
	operation->flags = (uint32_t)decoder_take_below(in, UINT32_MAX);
	operation->number = decoder_take(in);
	for (int i = 0; i < 2; i++) {
		struct model_transfer *transfer = &operation->transfers[i];

		transfer->comm = SEG_NO_COMM;
		if (i >= model_num_transfers(operation->kind))
			continue;
		transfer->comm = decoder_take_index(in, UINT32_MAX);
		transfer->peer = share_reader_peer(
			r, model,
			operation->kind == SEG_OPERATION_COLLECTIVE ? SEG_NO_COMM : transfer->comm);
		transfer->tag = decoder_take_int(in);
		transfer->ordinal = decoder_take(in);
		transfer->bytes = decoder_take(in);
	}
	num = decoder_take_count(in, SEG_MAX_WAITED, 1);
	if (num > 0)
		operation->waited = decoder_allocate(in, num, sizeof(*operation->waited));
	if (in->is_bad)
		return;
	operation->num_waited = num;
	for (size_t i = 0; i < num; i++)
		operation->waited[i] = (uint32_t)decoder_take_below(in, UINT32_MAX);
	share_reader_end(r);
}

static void borrow_ledger(struct share_reader *r, const struct model *model,
			  struct model_lane *lane, size_t number, int rank)
{
	uint32_t item = share_reader_begin(r, SHARE_LEDGERS, rank, number);
	struct share_loan *loan;

	lane->dropped_ledger = decoder_take(&r->in);
	if (r->in.is_bad)
		return;
	loan = &r->ledgers[item];
	if (!loan->table)
		loan->table = make_ledger(r, loan);
	if (loan->num_needed > model->num_comms)
		r->in.is_bad = true;
	lane->ledger = loan->table;
	lane->num_ledger = loan->num;
}

/* ---- Lanes ---- */

void share_read_lane(struct share_reader *r, struct model *model, size_t number, int rank)
{
	struct model_lane *lane = &model->lanes[number];

	share_reader_begin(r, SHARE_LANES, rank, number);
	read_state(r, lane);
	share_reader_begin(r, SHARE_TIMES, rank, number);
	read_times(r, model, lane);
	lane->is_borrowing = r->rings != NULL;
	borrow_transitions(r, model, lane, number, rank);
	read_ring_states(r, model, lane, number, rank);
	allocate_polls(r, model, lane, rank);
	share_reader_begin(r, SHARE_STAYS, rank, number);
	read_stay(r, model, lane);
	share_reader_begin(r, SHARE_OPERATIONS, rank, number);
	read_operation(r, model, &lane->operation);
	borrow_ledger(r, model, lane, number, rank);
}

void share_read_lane_details(struct share_reader *r, struct model *model, size_t number, int rank)
{
	struct model_lane *lane = &model->lanes[number];
	struct decoder *in = &r->in;
	size_t num_states = 2 * model->num_sites;
	uint64_t ns = model->now_ns;

	share_reader_begin(r, SHARE_RING_TIMES, rank, number);
	for (size_t i = lane->num_ring; i > 0 && !in->is_bad; i--) {
		ns -= decoder_take_below(in, ns);
		lane->ring[i - 1].ns = ns;
	}
	share_reader_end(r);
	free(lane->longest_ns);
	lane->longest_ns = decoder_allocate(in, num_states, sizeof(*lane->longest_ns));
	share_reader_begin(r, SHARE_LONGEST, rank, number);
	for (size_t s = 0; s < num_states && !in->is_bad; s++)
		lane->longest_ns[s] = decoder_take(in);
	share_reader_end(r);
	share_reader_begin(r, SHARE_POLLS, rank, number);
	for (size_t s = 0; s < num_states && !in->is_bad; s++)
		lane->state_polls[s] = decoder_take(in);
	share_reader_end(r);
}
