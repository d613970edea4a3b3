/* SPDX-License-Identifier: BSD-3-Clause
 * Items of lanes. */

#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/wire/share_items.h"

static void state_item(struct codec *c, const struct model *model, struct model_lane *lane)
{
	(void)model;
	CODEC_FLAGS(c, &lane->is_main, &lane->has_ended, &lane->is_consistent, &lane->in_poll);
	CODEC(c, lane->state);
	CODEC(c, lane->poll_site);
}

static void times_item(struct codec *c, const struct model *model, struct model_lane *lane)
{
	uint64_t ago = lane->last_poll_ns ? model->now_ns - lane->last_poll_ns + 1 : 0;

	CODEC_NEAR(c, lane->tid, model->pid, INT32_MIN, INT32_MAX);
	CODEC_AGO(c, lane->since_ns, model->now_ns);
	CODEC_AGO(c, lane->first_ns, model->now_ns);
	CODEC(c, lane->events);
	CODEC_ABOVE(c, lane->last_events, lane->events);
	CODEC(c, lane->polls);
	CODEC(c, ago);
	codec_refuse(c, ago > 0 && ago - 1 > model->now_ns);
	if (c->from && ago > 0)
		lane->last_poll_ns = model->now_ns - (ago - 1);
}

static void transitions_item(struct codec *c, const struct model *model, struct model_lane *lane)
{
	uint32_t before = 0;

	(void)model;
	CODEC_TABLE(c, lane->transitions, lane->num_transitions, MODEL_MAX_TRANSITIONS, 2);
	for (size_t i = 0; i < lane->num_transitions && codec_goes_on(c); i++) {
		struct model_transition *made = &lane->transitions[i];

		/* Mostly from where the one before led to. */
		CODEC_NEAR(c, made->from, before, 0, UINT32_MAX);
		CODEC_NEAR(c, made->to, made->from, 0, UINT32_MAX);
		before = made->to;
	}
}

static void counts_item(struct codec *c, const struct model *model, struct model_lane *lane)
{
	(void)model;
	for (size_t i = 0; i < lane->num_transitions && codec_goes_on(c); i++) {
		CODEC(c, lane->transitions[i].count);
		codec_refuse(c, lane->transitions[i].count == 0);
	}
}

/* ---- The ring ----
 * States with their repetitions: a state is the number of it plus one; 0, distance, length: the
 * entries that stand so far before, again. Loops take a few bytes. */

enum {
	HASH_BITS = 12,
	MATCH = 4, /* entries that a repetition has at least */
};

/* Which repetitions are found goes by it, and so what the bytes are. */
static size_t hash_of(const struct model_event *ring)
{
	uint64_t hash = 0;

	for (int i = 0; i < MATCH; i++)
		hash = (hash ^ ring[i].state) * 0x9e3779b97f4a7c15u;
	return hash >> (64 - HASH_BITS);
}

static void put_ring(struct buffer *b, const struct model_event *ring, size_t num)
{
	uint32_t seen[1 << HASH_BITS] = {0}; /* the last place with this hash, plus one */

	for (size_t i = 0; i < num;) {
		size_t length = 0, place = 0;

		if (num - i >= MATCH) {
			uint32_t *slot = &seen[hash_of(ring + i)];

			place = *slot;
			*slot = (uint32_t)i + 1;
		}
		while (place && i + length < num &&
		       ring[place - 1 + length].state == ring[i + length].state)
			length++;
		if (length >= MATCH) {
			buffer_put(b, 0);
			buffer_put(b, i - (place - 1));
			buffer_put(b, length);
			i += length;
		} else {
			buffer_put(b, (uint64_t)ring[i++].state + 1);
		}
	}
}

static void take_ring(struct decoder *in, struct model_event *ring, size_t num)
{
	for (size_t i = 0; i < num && !in->is_bad;) {
		uint64_t state = decoder_take_below(in, UINT32_MAX);
		size_t distance, end;

		if (state > 0) {
			ring[i++].state = (uint32_t)(state - 1);
			continue;
		}
		distance = decoder_take_below(in, i);
		end = i + decoder_take_below(in, num - i);
		if (distance == 0 || end == i)
			in->is_bad = true;
		for (; !in->is_bad && i < end; i++)
			ring[i].state = ring[i - distance].state;
	}
}

/* The times are not among the answers: 0. */
static void ring_item(struct codec *c, const struct model *model, struct model_lane *lane)
{
	(void)model;
	CODEC_BELOW(c, lane->num_ring, SEG_MAX_RING);
	if (c->to) {
		put_ring(c->to, lane->ring, lane->num_ring);
		return;
	}
	lane->ring = codec_allocate(c, &lane->num_ring, sizeof(*lane->ring));
	take_ring(c->from, lane->ring, lane->num_ring);
}

/* ---- What goes with the state ---- */

/* The longest stay in the present state or, where this is the first, the longest on its side: what
 * verdicts compare with. */
static void stay_item(struct codec *c, const struct model *model, struct model_lane *lane)
{
	struct model_stay longest = {0};

	if (c->to)
		longest = model_lane_longest(model, lane);
	CODEC(c, longest.state);
	CODEC(c, longest.ns);
	codec_refuse(c, longest.state >= 2 * model->num_sites);
	if (c->from)
		lane->longest = longest;
}

/* Behind all else, and nothing where there are none, as before there were notes. */
static void notes(struct codec *c, struct model_lane *lane)
{
	if (!codec_has_part(c, lane->num_notes > 0))
		return;
	CODEC_TABLE(c, lane->note_entries, lane->num_note_entries, MODEL_MAX_NOTED, 1);
	for (size_t i = 0; i < lane->num_note_entries && codec_goes_on(c); i++)
		CODEC(c, lane->note_entries[i]);
	CODEC_TABLE(c, lane->notes, lane->num_notes, MODEL_MAX_NOTES, 6);
	for (size_t i = 0; i < lane->num_notes && codec_goes_on(c); i++) {
		struct model_note *note = &lane->notes[i];

		CODEC(c, note->number);
		CODEC(c, note->comm);
		CODEC_BELOW(c, note->kind, SEG_NUM_NOTES - 1);
		CODEC(c, note->unit);
		CODEC(c, note->first);
		CODEC(c, note->num);
	}
}

static void operation_item(struct codec *c, const struct model *model, struct model_lane *lane)
{
	struct model_operation *operation = &lane->operation;

	CODEC_BELOW(c, operation->kind, SEG_OPERATION_LOOK);
	CODEC(c, operation->flags);
	CODEC(c, operation->number);
	for (int i = 0; c->from && i < 2; i++)
		operation->transfers[i].comm = SEG_NO_COMM;
	for (int i = 0; i < model_num_transfers(operation->kind); i++) {
		struct model_transfer *transfer = &operation->transfers[i];
		bool is_collective = operation->kind == SEG_OPERATION_COLLECTIVE;

		CODEC_INDEX(c, transfer->comm, UINT32_MAX);
		/* The root of a collective is the same for all. */
		codec_peer(c, &transfer->peer,
			   share_peer_base(model, is_collective ? SEG_NO_COMM : transfer->comm));
		CODEC_INT(c, transfer->tag);
		CODEC(c, transfer->ordinal);
		CODEC(c, transfer->bytes);
	}
	CODEC_TABLE(c, operation->waited, operation->num_waited, SEG_MAX_WAITED, 1);
	for (size_t i = 0; i < operation->num_waited; i++)
		CODEC(c, operation->waited[i]);
	notes(c, lane);
}

/* A row that is read is of many ranks, so its peer stays a distance. */
static void ledger_peer(struct codec *c, const struct model *model, struct model_ledger *row)
{
	uint64_t value, half;

	if (c->to) {
		int32_t peer = model_ledger_peer(model, row);

		codec_peer(c, &peer, share_peer_base(model, row->comm));
		return;
	}
	value = decoder_take(c->from);
	half = value >> 1;
	row->is_distance = !(value & 1);
	/* So that no sum of it and a rank is too large for an int. */
	if (half > 4 * (uint64_t)SHARE_MAX_RANKS)
		c->from->is_bad = true;
	else if (row->is_distance)
		row->peer = (int32_t)((int64_t)(half >> 1) ^ -(int64_t)(half & 1));
	else
		row->peer = -(int32_t)half;
}

static void ledger_item(struct codec *c, const struct model *model, struct model_lane *lane)
{
	CODEC(c, lane->dropped_ledger);
	CODEC_TABLE(c, lane->ledger, lane->num_ledger, SEG_MAX_LEDGER, 9);
	for (size_t i = 0; i < lane->num_ledger && codec_goes_on(c); i++) {
		struct model_ledger *row = &lane->ledger[i];

		CODEC_INDEX(c, row->comm, UINT32_MAX);
		ledger_peer(c, model, row);
		CODEC_INT(c, row->tag);
		CODEC(c, row->cancelled);
		CODEC(c, row->sends);
		CODEC(c, row->sends_done);
		CODEC(c, row->receives);
		CODEC(c, row->receives_done);
		CODEC(c, row->taken);
		codec_refuse(c, row->comm != SEG_NO_COMM &&
					(row->tag < SEG_TAG_GROUP ||
					 (!row->is_distance && row->peer < SEG_PEER_NONE)));
	}
}

void share_item_look(struct codec *c, struct job_lane *lane)
{
	CODEC_FLAGS(c, &lane->has_second_look, &lane->has_moved, &lane->has_polled);
	CODEC(c, lane->moves);
}

/* ---- Details ---- */

static void ring_times_item(struct codec *c, const struct model *model, struct model_lane *lane)
{
	uint64_t ns = model->now_ns;

	for (size_t i = lane->num_ring; i > 0 && codec_goes_on(c); i--) {
		CODEC_AGO(c, lane->ring[i - 1].ns, ns);
		ns = lane->ring[i - 1].ns;
	}
}

static void longest_item(struct codec *c, const struct model *model, struct model_lane *lane)
{
	size_t num_states = 2 * model->num_sites;

	if (c->from)
		lane->longest_ns = codec_allocate(c, &num_states, sizeof(*lane->longest_ns));
	for (uint32_t s = 0; s < num_states && codec_goes_on(c); s++)
		CODEC_FIELD(c, lane->longest_ns[s], buffer_put(c->to, model_lane_stay(lane, s)),
			    decoder_take(c->from));
}

static void polls_item(struct codec *c, const struct model *model, struct model_lane *lane)
{
	for (size_t s = 0; s < 2 * model->num_sites && codec_goes_on(c); s++)
		CODEC(c, lane->state_polls[s]);
}

share_lane_item share_lane_item_of(enum share_column_id id)
{
	static const share_lane_item items[SHARE_NUM_COLUMNS] = {
		[SHARE_LANES] = state_item,
		[SHARE_TIMES] = times_item,
		[SHARE_TRANSITIONS] = transitions_item,
		[SHARE_COUNTS] = counts_item,
		[SHARE_RING_STATES] = ring_item,
		[SHARE_STAYS] = stay_item,
		[SHARE_OPERATIONS] = operation_item,
		[SHARE_LEDGERS] = ledger_item,
		[SHARE_RING_TIMES] = ring_times_item,
		[SHARE_LONGEST] = longest_item,
		[SHARE_POLLS] = polls_item,
	};

	return items[id];
}
