/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "model/model.h"
#include "model/share_read.h"
#include "model/xalloc.h"

static void read_state(struct share_reader *r, struct model_lane *lane)
{
	uint64_t flags = input_take_below(&r->in, 15);

	lane->is_main = flags & 1;
	lane->has_ended = flags & 2;
	lane->is_consistent = flags & 4;
	lane->in_poll = flags & 8;
	lane->state = (uint32_t)input_take_below(&r->in, UINT32_MAX);
	lane->poll_site = (uint32_t)input_take_below(&r->in, UINT32_MAX);
	share_reader_end(r);
}

static void read_times(struct share_reader *r, const struct model *model, struct model_lane *lane)
{
	struct snapshot_input *in = &r->in;
	int64_t tid = model->pid + input_take_signed(in, -(int64_t)UINT32_MAX, UINT32_MAX);
	uint64_t ago;

	if (tid < INT32_MIN || tid > INT32_MAX)
		in->is_bad = true;
	lane->tid = (int32_t)tid;
	lane->since_ns = model->now_ns - input_take_below(in, model->now_ns);
	lane->first_ns = model->now_ns - input_take_below(in, model->now_ns);
	lane->events = input_take(in);
	lane->last_events = lane->events + input_take(in);
	lane->polls = input_take(in);
	ago = input_take(in);
	if (ago > 0 && ago - 1 > model->now_ns)
		in->is_bad = true;
	else if (ago > 0)
		lane->last_poll_ns = model->now_ns - (ago - 1);
	share_reader_end(r);
}

static uint32_t take_state(struct snapshot_input *in, uint32_t before)
{
	int64_t state = before + input_take_signed(in, -(int64_t)UINT32_MAX, UINT32_MAX);

	if (state < 0 || state > UINT32_MAX)
		in->is_bad = true;
	return (uint32_t)state;
}

/* A table of the lane, the lender's if it borrows. */
static void *allocate(struct share_reader *r, const struct model *model,
		      const struct model_lane *lane, size_t num, size_t size)
{
	void *table = input_allocate(&r->in, num, size);

	if (lane->is_borrowing)
		model_lend(model->lender, table);
	return table;
}

static void read_counts(struct share_reader *r, struct model_lane *lane, size_t number, int rank)
{
	share_reader_begin(r, SHARE_COUNTS, rank, number);
	for (size_t i = 0; i < lane->num_transitions; i++)
		lane->transitions[i].count = input_take(&r->in);
	share_reader_end(r);
}

static void read_transitions(struct share_reader *r, const struct model *model,
			     struct model_lane *lane, size_t number, int rank)
{
	struct snapshot_input *in = &r->in;
	uint32_t counts = share_reader_begin(r, SHARE_COUNTS, rank, number), before = 0;
	uint32_t item = share_reader_begin(r, SHARE_TRANSITIONS, rank, number);
	struct share_loan *loan =
		lane->is_borrowing && !in->is_bad ? &r->transitions[counts] : NULL;
	size_t num;

	if (loan && loan->lender == model->lender && loan->with == item) {
		lane->transitions = loan->table;
		lane->num_transitions = loan->num;
		return;
	}
	num = input_take_count(in, SEG_MAX_TRANSITIONS, 2);
	lane->transitions = allocate(r, model, lane, num, sizeof(*lane->transitions));
	if (in->is_bad)
		return;
	lane->num_transitions = num;
	for (size_t i = 0; i < num; i++) {
		lane->transitions[i].from = take_state(in, before);
		before = lane->transitions[i].to = take_state(in, lane->transitions[i].from);
	}
	share_reader_end(r);
	read_counts(r, lane, number, rank);
	if (loan && !in->is_bad)
		*loan = (struct share_loan){model->lender, lane->transitions, num, item};
}

/* Entries of the ring, with the repetition that comes next. */
static size_t take_entries(struct snapshot_input *in, struct model_event *ring, size_t i,
			   size_t num)
{
	uint64_t state = input_take(in);
	size_t distance, length;

	if (state > 0) {
		if (state > (uint64_t)UINT32_MAX + 1)
			in->is_bad = true;
		ring[i].state = (uint32_t)(state - 1);
		return i + 1;
	}
	distance = input_take_below(in, i);
	length = input_take_below(in, num - i);
	if (distance == 0 || length == 0)
		in->is_bad = true;
	if (in->is_bad)
		return num;
	for (size_t last = i + length; i < last; i++)
		ring[i].state = ring[i - distance].state;
	return i;
}

/* The times are not among the answers: 0. */
static void read_ring_states(struct share_reader *r, const struct model *model,
			     struct model_lane *lane, size_t number, int rank)
{
	struct snapshot_input *in = &r->in;
	uint32_t item = share_reader_begin(r, SHARE_RING_STATES, rank, number);
	struct share_loan *loan = lane->is_borrowing && !in->is_bad ? &r->rings[item] : NULL;
	size_t num, i = 0;

	if (loan && loan->lender == model->lender) {
		lane->ring = loan->table;
		lane->num_ring = loan->num;
		return;
	}
	num = input_take_below(in, SEG_MAX_RING);
	lane->ring = allocate(r, model, lane, num, sizeof(*lane->ring));
	if (in->is_bad)
		return;
	lane->num_ring = num;
	while (i < num && !in->is_bad)
		i = take_entries(in, lane->ring, i, num);
	share_reader_end(r);
	if (loan && !in->is_bad)
		*loan = (struct share_loan){model->lender, lane->ring, num, 0};
}

/* Nor are polls by state: none. */
static void allocate_polls(struct share_reader *r, const struct model *model,
			   struct model_lane *lane, int rank)
{
	size_t num_states = 2 * model->num_sites, num;
	const uint32_t *shape = share_reader_row(r, SHARE_SHAPE, rank, &num);
	struct share_loan *loan = lane->is_borrowing ? &r->polls[shape[0]] : NULL;

	if (loan && loan->lender == model->lender) {
		lane->state_polls = loan->table;
		return;
	}
	lane->state_polls = allocate(r, model, lane, num_states, sizeof(*lane->state_polls));
	if (loan && !r->in.is_bad)
		*loan = (struct share_loan){model->lender, lane->state_polls, num_states, 0};
}

static void read_stay(struct share_reader *r, const struct model *model, struct model_lane *lane)
{
	size_t num_states = 2 * model->num_sites;
	uint64_t state = input_take(&r->in), ns = input_take(&r->in);

	lane->longest_ns = input_allocate(&r->in, num_states, sizeof(*lane->longest_ns));
	if (state >= num_states)
		r->in.is_bad = true;
	if (!r->in.is_bad)
		lane->longest_ns[state] = ns;
	share_reader_end(r);
}

static void read_operation(struct share_reader *r, const struct model *model,
			   struct model_operation *operation)
{
	struct snapshot_input *in = &r->in;
	size_t num;

	operation->kind = (enum seg_operation_kind)input_take_below(in, SEG_OPERATION_LOCAL);
	operation->flags = (uint32_t)input_take_below(in, UINT32_MAX);
	operation->number = input_take(in);
	for (int i = 0; i < 2; i++) {
		struct model_transfer *transfer = &operation->transfers[i];

		transfer->comm = SEG_NO_COMM;
		if (i >= model_num_transfers(operation->kind))
			continue;
		transfer->comm = input_take_index(in, UINT32_MAX);
		transfer->peer = share_reader_peer(
			r, model,
			operation->kind == SEG_OPERATION_COLLECTIVE ? SEG_NO_COMM : transfer->comm);
		transfer->tag = input_take_int(in);
		transfer->ordinal = input_take(in);
		transfer->bytes = input_take(in);
	}
	num = input_take_count(in, SEG_MAX_WAITED, 1);
	operation->waited = input_allocate(in, num, sizeof(*operation->waited));
	if (in->is_bad)
		return;
	operation->num_waited = num;
	for (size_t i = 0; i < num; i++)
		operation->waited[i] = (uint32_t)input_take_below(in, UINT32_MAX);
	share_reader_end(r);
}

static void read_ledger(struct share_reader *r, const struct model *model, struct model_lane *lane)
{
	struct snapshot_input *in = &r->in;
	size_t num;

	lane->dropped_ledger = input_take(in);
	num = input_take_count(in, SEG_MAX_LEDGER, 9);
	lane->ledger = input_allocate(in, num, sizeof(*lane->ledger));
	if (in->is_bad)
		return;
	lane->num_ledger = num;
	for (size_t i = 0; i < num; i++) {
		struct model_ledger *row = &lane->ledger[i];

		row->comm = input_take_index(in, UINT32_MAX);
		row->peer = share_reader_peer(r, model, row->comm);
		row->tag = input_take_int(in);
		row->cancelled = (uint32_t)input_take_below(in, UINT32_MAX);
		row->sends = input_take(in);
		row->sends_done = input_take(in);
		row->receives = input_take(in);
		row->receives_done = input_take(in);
		row->taken = input_take(in);
	}
	share_reader_end(r);
}

void share_read_lane(struct share_reader *r, struct model *model, size_t number, int rank)
{
	struct model_lane *lane = &model->lanes[number];

	share_reader_begin(r, SHARE_LANES, rank, number);
	read_state(r, lane);
	share_reader_begin(r, SHARE_TIMES, rank, number);
	read_times(r, model, lane);
	lane->is_borrowing = r->rings != NULL;
	read_transitions(r, model, lane, number, rank);
	read_ring_states(r, model, lane, number, rank);
	allocate_polls(r, model, lane, rank);
	share_reader_begin(r, SHARE_STAYS, rank, number);
	read_stay(r, model, lane);
	share_reader_begin(r, SHARE_OPERATIONS, rank, number);
	read_operation(r, model, &lane->operation);
	share_reader_begin(r, SHARE_LEDGERS, rank, number);
	read_ledger(r, model, lane);
}

void share_read_lane_details(struct share_reader *r, struct model *model, size_t number, int rank)
{
	struct model_lane *lane = &model->lanes[number];
	struct snapshot_input *in = &r->in;
	uint64_t ns = model->now_ns;

	share_reader_begin(r, SHARE_RING_TIMES, rank, number);
	for (size_t i = lane->num_ring; i > 0 && !in->is_bad; i--) {
		ns -= input_take_below(in, ns);
		lane->ring[i - 1].ns = ns;
	}
	share_reader_end(r);
	share_reader_begin(r, SHARE_LONGEST, rank, number);
	for (size_t s = 0; s < 2 * model->num_sites && !in->is_bad; s++)
		lane->longest_ns[s] = input_take(in);
	share_reader_end(r);
	share_reader_begin(r, SHARE_POLLS, rank, number);
	for (size_t s = 0; s < 2 * model->num_sites && !in->is_bad; s++)
		lane->state_polls[s] = input_take(in);
	share_reader_end(r);
}
