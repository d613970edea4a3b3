/* SPDX-License-Identifier: BSD-3-Clause
 * The items of lanes; share_read_lane.c reads the same order. */
#include <string.h>

#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/wire/share_fill.h"
#include "model/trace/trace.h"

static void put_state(struct share_filler *f, const struct model_lane *lane)
{
	struct buffer *b = &f->item;

	buffer_put(b, lane->is_main | lane->has_ended << 1 | lane->is_consistent << 2 |
			      lane->in_poll << 3);
	buffer_put(b, lane->state);
	buffer_put(b, lane->poll_site);
	share_filler_end_item(f, SHARE_LANES);
}

static void put_times(struct share_filler *f, const struct model *model,
		      const struct model_lane *lane)
{
	struct buffer *b = &f->item;

	buffer_put_signed(b, (int64_t)lane->tid - model->pid);
	buffer_put(b, model->now_ns - lane->since_ns);
	buffer_put(b, model->now_ns - lane->first_ns);
	buffer_put(b, lane->events);
	buffer_put(b, lane->last_events - lane->events);
	buffer_put(b, lane->polls);
	buffer_put(b, lane->last_poll_ns ? model->now_ns - lane->last_poll_ns + 1 : 0);
	share_filler_end_item(f, SHARE_TIMES);
}

static void put_transitions(struct share_filler *f, const struct model_lane *lane)
{
	uint32_t before = 0;

	buffer_put(&f->item, lane->num_transitions);
	for (size_t i = 0; i < lane->num_transitions; i++) {
		/* Mostly from where the one before led to. */
		buffer_put_signed(&f->item, (int64_t)lane->transitions[i].from - before);
		before = lane->transitions[i].to;
		buffer_put_signed(&f->item, (int64_t)before - lane->transitions[i].from);
	}
	share_filler_end_item(f, SHARE_TRANSITIONS);
}

static void put_counts(struct share_filler *f, const struct model_lane *lane)
{
	for (size_t i = 0; i < lane->num_transitions; i++)
		buffer_put(&f->item, lane->transitions[i].count);
	share_filler_end_item(f, SHARE_COUNTS);
}

enum { HASH_BITS = 12 };

static size_t hash_of(const struct model_event *ring)
{
	uint64_t hash = 0;

	for (int i = 0; i < SHARE_RING_MATCH; i++)
		hash = (hash ^ ring[i].state) * 0x9e3779b97f4a7c15u;
	return hash >> (64 - HASH_BITS);
}

static void put_ring_states(struct share_filler *f, const struct model_lane *lane)
{
	uint32_t seen[1 << HASH_BITS] = {0}; /* the last place with this hash, plus one */
	const struct model_event *ring = lane->ring;
	size_t num = lane->num_ring, i = 0;

	buffer_put(&f->item, num);
	while (i < num) {
		size_t length = 0, place = 0;

		if (num - i >= SHARE_RING_MATCH) {
			uint32_t *slot = &seen[hash_of(ring + i)];

			place = *slot;
			*slot = (uint32_t)i + 1;
		}
		if (place)
			while (i + length < num &&
			       ring[place - 1 + length].state == ring[i + length].state)
				length++;
		if (length >= SHARE_RING_MATCH) {
			buffer_put(&f->item, 0);
			buffer_put(&f->item, i - (place - 1));
			buffer_put(&f->item, length);
			i += length;
		} else {
			buffer_put(&f->item, (uint64_t)ring[i++].state + 1);
		}
	}
	share_filler_end_item(f, SHARE_RING_STATES);
}

/* The longest stay in the present state or, where this is the first, the longest on its side: what
 * verdicts compare with. */
static void put_stay(struct share_filler *f, const struct model *model,
		     const struct model_lane *lane)
{
	struct model_stay longest = model_lane_longest(model, lane);

	buffer_put(&f->item, longest.state);
	buffer_put(&f->item, longest.ns);
	share_filler_end_item(f, SHARE_STAYS);
}

static void put_ring_times(struct share_filler *f, const struct model *model,
			   const struct model_lane *lane)
{
	for (size_t i = lane->num_ring; i > 0; i--)
		buffer_put(&f->item, (i == lane->num_ring ? model->now_ns : lane->ring[i].ns) -
					     lane->ring[i - 1].ns);
	share_filler_end_item(f, SHARE_RING_TIMES);
}

static void put_longest(struct share_filler *f, const struct model *model,
			const struct model_lane *lane)
{
	for (uint32_t s = 0; s < 2 * model->num_sites; s++)
		buffer_put(&f->item, model_lane_stay(lane, s));
	share_filler_end_item(f, SHARE_LONGEST);
}

static void put_polls(struct share_filler *f, const struct model *model,
		      const struct model_lane *lane)
{
	for (size_t s = 0; s < 2 * model->num_sites; s++)
		buffer_put(&f->item, lane->state_polls[s]);
	share_filler_end_item(f, SHARE_POLLS);
}

static void put_look(struct share_filler *f, const struct job_lane *lane)
{
	buffer_put(&f->item, lane->has_second_look | lane->has_moved << 1 | lane->has_polled << 2);
	buffer_put(&f->item, lane->moves);
	share_filler_end_item(f, SHARE_LOOKS);
}

/* The root of a collective is the same for all. */
static void put_operation(struct share_filler *f, const struct model *model,
			  const struct model_operation *operation)
{
	struct buffer *b = &f->item;

	buffer_put(b, operation->kind);
	buffer_put(b, operation->flags);
	buffer_put(b, operation->number);
	for (int i = 0; i < model_num_transfers(operation->kind); i++) {
		const struct model_transfer *transfer = &operation->transfers[i];

		buffer_put_index(b, transfer->comm);
		share_filler_put_peer(f, model,
				      operation->kind == SEG_OPERATION_COLLECTIVE ? SEG_NO_COMM
										  : transfer->comm,
				      transfer->peer);
		buffer_put_signed(b, transfer->tag);
		buffer_put(b, transfer->ordinal);
		buffer_put(b, transfer->bytes);
	}
	buffer_put(b, operation->num_waited);
	for (size_t i = 0; i < operation->num_waited; i++)
		buffer_put(b, operation->waited[i]);
	share_filler_end_item(f, SHARE_OPERATIONS);
}

static void put_ledger(struct share_filler *f, const struct model *model,
		       const struct model_lane *lane)
{
	struct buffer *b = &f->item;

	buffer_put(b, lane->dropped_ledger);
	buffer_put(b, lane->num_ledger);
	for (size_t i = 0; i < lane->num_ledger; i++) {
		const struct model_ledger *row = &lane->ledger[i];

		buffer_put_index(b, row->comm);
		share_filler_put_peer(f, model, row->comm, model_ledger_peer(model, row));
		buffer_put_signed(b, row->tag);
		buffer_put(b, row->cancelled);
		buffer_put(b, row->sends);
		buffer_put(b, row->sends_done);
		buffer_put(b, row->receives);
		buffer_put(b, row->receives_done);
		buffer_put(b, row->taken);
	}
	share_filler_end_item(f, SHARE_LEDGERS);
}

static void put_trace(struct share_filler *f, const struct model_lane *lane)
{
	struct buffer *b = &f->item;

	if (lane->trace) {
		buffer_put(b, SHARE_TRACE_IS_THERE);
		trace_encode(lane->trace, b);
	} else if (lane->trace_note) {
		buffer_put(b, SHARE_TRACE_NOTE);
		buffer_put(b, strlen(lane->trace_note));
		buffer_put_bytes(b, lane->trace_note, strlen(lane->trace_note));
	} else {
		buffer_put(b, SHARE_TRACE_NONE);
	}
	share_filler_end_item(f, SHARE_TRACE_COLUMN);
}

void share_fill_lanes(struct share_filler *f, const struct model *model,
		      const struct job_lane *lanes, enum share_column_id id, int rank)
{
	for (size_t l = 0; l < model->num_lanes; l++) {
		const struct model_lane *lane = &model->lanes[l];

		switch (id) {
		case SHARE_LANES:
			put_state(f, lane);
			break;
		case SHARE_TIMES:
			put_times(f, model, lane);
			break;
		case SHARE_TRANSITIONS:
			put_transitions(f, lane);
			break;
		case SHARE_COUNTS:
			put_counts(f, lane);
			break;
		case SHARE_RING_STATES:
			put_ring_states(f, lane);
			break;
		case SHARE_STAYS:
			put_stay(f, model, lane);
			break;
		case SHARE_OPERATIONS:
			put_operation(f, model, &lane->operation);
			break;
		case SHARE_LEDGERS:
			put_ledger(f, model, lane);
			break;
		case SHARE_LOOKS:
			put_look(f, &lanes[l]);
			break;
		case SHARE_RING_TIMES:
			put_ring_times(f, model, lane);
			break;
		case SHARE_LONGEST:
			put_longest(f, model, lane);
			break;
		case SHARE_POLLS:
			put_polls(f, model, lane);
			break;
		case SHARE_TRACE_COLUMN:
			put_trace(f, lane);
			break;
		default:
			break;
		}
	}
	share_filler_end_row(f, id, rank);
}
