/* SPDX-License-Identifier: BSD-3-Clause
 * A ledger's row gives a half for what it sent and one for what it received; halves are added
 * up. */
#include "analysis/waits/message_pairs.h"
#include "model/arena.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/sorted.h"
#include "model/xalloc.h"

/* What has to be known of a rank as a whole. */
struct end {
	bool is_recorded;
	bool is_moving;
	bool has_lost; /* a thread's ledger lacks transfers */
};

struct builder {
	struct arena *arena;
	struct message_pairs *result;
	struct end *ends; /* [num_ends] by rank */
	int num_ends;
};

/* Two halves at most, for which there is room. */
static void add_row(struct message_pairs *result, const struct job_comms *comms,
		    const struct job_lane *lane, const struct model_ledger *row)
{
	const struct message_pair half = {
		.comm = job_comms_find(comms, lane->model, row->comm),
		.tag = row->tag,
		.is_comparable = row->cancelled == 0,
	};
	int peer = model_ledger_peer(lane->model, row);
	struct message_pair *next = &result->pairs[result->num_pairs];

	if (peer != SEG_PEER_ANY)
		peer = job_comms_peer(comms, lane->model, row->comm, peer);
	if (row->sends) {
		*next = half;
		next->from = lane->rank;
		next->to = peer;
		next->sends = row->sends;
		next->sends_done = row->sends_done;
		next->num_senders = 1;
		next++;
	}
	if (row->receives || row->taken) {
		*next = half;
		next->from = peer;
		next->to = lane->rank;
		next->receives = row->receives + row->taken;
		next->receives_done = row->receives_done + row->taken;
		next->taken = row->taken;
		next->num_receivers = 1;
		next++;
	}
	result->num_pairs = (size_t)(next - result->pairs);
}

static void add_lanes(struct builder *builder, const struct job_model *jm,
		      const struct job_comms *comms)
{
	size_t num_rows = 0;

	for (size_t i = 0; i < jm->num_lanes; i++)
		num_rows += jm->lanes[i].data->num_ledger;
	builder->result->pairs =
		arena_array(builder->arena, 2 * num_rows, sizeof(*builder->result->pairs));
	/* Lanes are sorted by rank. */
	builder->num_ends = jm->num_lanes ? jm->lanes[jm->num_lanes - 1].rank + 1 : 0;
	builder->ends =
		arena_array(builder->arena, (size_t)builder->num_ends, sizeof(*builder->ends));
	for (size_t i = 0; i < jm->num_lanes; i++) {
		const struct job_lane *lane = &jm->lanes[i];
		struct end *end = &builder->ends[lane->rank];

		end->is_recorded = true;
		end->is_moving |= lane->has_moved;
		end->has_lost |= lane->data->dropped_ledger > 0;
		for (size_t r = 0; r < lane->data->num_ledger; r++)
			add_row(builder->result, comms, lane, &lane->data->ledger[r]);
	}
}

SORTED_BY(compare_pairs, struct message_pair, comm, to, from, tag)

static void add_up(struct message_pairs *result)
{
	size_t kept = 0;

	sorted_make(result->pairs, result->num_pairs, sizeof(*result->pairs), compare_pairs);
	for (size_t i = 0; i < result->num_pairs; i++) {
		const struct message_pair *half = &result->pairs[i];
		struct message_pair *pair = &result->pairs[kept ? kept - 1 : 0];

		if (!kept || compare_pairs(pair, half)) {
			result->pairs[kept++] = *half;
			continue;
		}
		pair->sends += half->sends;
		pair->sends_done += half->sends_done;
		pair->receives += half->receives;
		pair->receives_done += half->receives_done;
		pair->taken += half->taken;
		pair->num_senders += half->num_senders;
		pair->num_receivers += half->num_receivers;
		pair->is_comparable &= half->is_comparable;
	}
	result->num_pairs = kept;
}

static const struct end *find_end(const struct builder *builder, int rank)
{
	static const struct end unknown;

	return rank >= 0 && rank < builder->num_ends ? &builder->ends[rank] : &unknown;
}

static bool is_wildcard(const struct message_pair *pair)
{
	return pair->from == SEG_PEER_ANY || pair->tag == SEG_TAG_ANY;
}

/* Open receives of `wildcard` that may take a message of `pair`; both have one receiver. A wildcard
 * of the tag takes no tokens, which are negative tags. */
static uint64_t open_for(const struct message_pair *wildcard, const struct message_pair *pair)
{
	if (!is_wildcard(wildcard) || is_wildcard(pair) ||
	    (wildcard->from != SEG_PEER_ANY && wildcard->from != pair->from))
		return 0;
	if (wildcard->tag == SEG_TAG_ANY ? pair->tag < 0 : wildcard->tag != pair->tag)
		return 0;
	return wildcard->receives - wildcard->receives_done;
}

/* The pairs [first, end) have one sender, too. wildcards: those of the receiver. */
static void judge_sender(const struct builder *builder, size_t first, size_t end,
			 const size_t *wildcards, size_t num_wildcards)
{
	struct message_pair *pairs = builder->result->pairs;
	const struct end *from = find_end(builder, pairs[first].from);
	const struct end *to = find_end(builder, pairs[first].to);
	bool has_all = pairs[first].comm != SEG_NO_COMM && from->is_recorded && to->is_recorded &&
		       !from->has_lost && !to->has_lost;

	for (size_t i = first; i < end; i++)
		has_all &= pairs[i].tag != SEG_TAG_MANY;
	for (size_t i = first; i < end; i++) {
		pairs[i].is_comparable &= has_all && !is_wildcard(&pairs[i]);
		pairs[i].is_moving = from->is_moving || to->is_moving;
		for (size_t w = 0; w < num_wildcards; w++)
			pairs[i].wildcards += open_for(&pairs[wildcards[w]], &pairs[i]);
	}
}

/* The pairs [first, end) are those of one receiver in one communicator. */
static void judge_receiver(const struct builder *builder, size_t first, size_t end)
{
	const struct message_pair *pairs = builder->result->pairs;
	size_t *wildcards = xcalloc(end - first, sizeof(*wildcards)), number = 0, next;

	for (size_t i = first; i < end; i++)
		if (is_wildcard(&pairs[i]))
			wildcards[number++] = i;
	for (size_t i = first; i < end; i = next) {
		for (next = i + 1; next < end && pairs[next].from == pairs[i].from;)
			next++;
		judge_sender(builder, i, next, wildcards, number);
	}
	free(wildcards);
}

struct message_pairs *message_pairs_create(const struct job_model *jm,
					   const struct job_comms *comms, struct arena *arena)
{
	struct message_pairs *result = arena_alloc(arena, sizeof(*result));
	struct builder builder = {.arena = arena, .result = result};
	size_t next;

	add_lanes(&builder, jm, comms);
	add_up(result);
	for (size_t i = 0; i < result->num_pairs; i = next) {
		for (next = i + 1; next < result->num_pairs &&
				   result->pairs[next].comm == result->pairs[i].comm &&
				   result->pairs[next].to == result->pairs[i].to;)
			next++;
		judge_receiver(&builder, i, next);
	}
	return result;
}

const struct message_pair *message_pairs_find(const struct message_pairs *pairs, uint32_t comm,
					      int from, int to, int32_t tag)
{
	struct message_pair key = {.comm = comm, .from = from, .to = to, .tag = tag};

	if (!pairs->num_pairs)
		return NULL;
	return bsearch(&key, pairs->pairs, pairs->num_pairs, sizeof(key), compare_pairs);
}

bool message_pair_differs(const struct message_pair *pair)
{
	return pair->is_comparable && pair->sends != pair->receives;
}

enum message_match message_pair_match(const struct message_pair *pair, bool is_send,
				      uint64_t ordinal)
{
	/* The ordinal is one thread's, and messages of other threads may be between. */
	if (!pair || !pair->is_comparable || !ordinal ||
	    (is_send ? pair->num_senders : pair->num_receivers) > 1)
		return MESSAGE_MATCH_UNKNOWN;
	if (!is_send)
		return pair->sends >= ordinal + pair->taken ? MESSAGE_MATCH_YES : MESSAGE_MATCH_NO;
	if (pair->receives >= ordinal)
		return MESSAGE_MATCH_YES;
	return pair->wildcards ? MESSAGE_MATCH_UNKNOWN : MESSAGE_MATCH_NO;
}
