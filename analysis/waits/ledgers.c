/* SPDX-License-Identifier: BSD-3-Clause
 * An index is a hash table of the rows' numbers by open addressing; rows of one key that several
 * lanes have are found one after the other. Totals are an array by communicator and peer. */
#include <stdlib.h>

#include "analysis/waits/ledgers.h"
#include "model/arena.h"
#include "model/job/job_model.h"
#include "model/job/model.h"

/* Tags that are numbers are at least so many. */
enum { MANY_TAGS = 8 };

/* Rows of a rank are numbered lane by lane. A slot holds a row's number and 1, or 0. */
struct index {
	uint32_t *slots; /* [num_slots], a power of two; NULL: not made yet */
	uint32_t num_slots;
};

struct total {
	uint32_t comm;
	int32_t peer;
	struct ledger_total sum;
};

struct totals {
	struct total *totals; /* by communicator and peer; NULL: not made yet */
	size_t num;
};

struct ledgers {
	struct arena *arena;
	const struct job_model *jm;
	const struct rank_lanes *ranks;
	struct index *indexes; /* [num_ranks], as is the next */
	struct totals *totals;
};

struct ledgers *ledgers_create(const struct job_model *jm, const struct rank_lanes *ranks,
			       size_t num_ranks, struct arena *arena)
{
	struct ledgers *ledgers = arena_alloc(arena, sizeof(*ledgers));

	ledgers->arena = arena;
	ledgers->jm = jm;
	ledgers->ranks = ranks;
	ledgers->indexes = arena_array(arena, num_ranks, sizeof(*ledgers->indexes));
	ledgers->totals = arena_array(arena, num_ranks, sizeof(*ledgers->totals));
	return ledgers;
}

static uint32_t hash_key(uint32_t comm, int32_t peer, int32_t tag)
{
	uint64_t hash = ((uint64_t)comm << 32 ^ (uint32_t)peer) * UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ hash >> 29 ^ (uint32_t)tag) * UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(hash >> 32);
}

static const struct model_ledger *get_row(const struct ledgers *ledgers, int rank, uint32_t number)
{
	const struct rank_lanes *lanes = &ledgers->ranks[rank];
	uint32_t l = lanes->first;

	while (number >= ledgers->jm->lanes[l].data->num_ledger)
		number -= (uint32_t)ledgers->jm->lanes[l++].data->num_ledger;
	return &ledgers->jm->lanes[l].data->ledger[number];
}

/* All lanes of a rank have one model. */
static int32_t get_peer(const struct ledgers *ledgers, int rank, const struct model_ledger *row)
{
	return model_ledger_peer(ledgers->jm->lanes[ledgers->ranks[rank].first].model, row);
}

static size_t count_rows(const struct ledgers *ledgers, int rank)
{
	const struct rank_lanes *lanes = &ledgers->ranks[rank];
	size_t num = 0;

	for (uint32_t l = 0; l < lanes->num; l++)
		num += ledgers->jm->lanes[lanes->first + l].data->num_ledger;
	return num;
}

static void make_index(struct ledgers *ledgers, int rank)
{
	const struct rank_lanes *lanes = &ledgers->ranks[rank];
	struct index *index = &ledgers->indexes[rank];
	size_t num_rows = count_rows(ledgers, rank);
	uint32_t number = 0;

	index->num_slots = 4;
	while (index->num_slots < 2 * num_rows)
		index->num_slots *= 2;
	index->slots = arena_array(ledgers->arena, index->num_slots, sizeof(*index->slots));
	for (uint32_t l = 0; l < lanes->num; l++) {
		const struct model_lane *lane = ledgers->jm->lanes[lanes->first + l].data;

		for (size_t i = 0; i < lane->num_ledger; i++) {
			const struct model_ledger *row = &lane->ledger[i];
			uint32_t at = hash_key(row->comm, get_peer(ledgers, rank, row), row->tag);

			while (index->slots[at & (index->num_slots - 1)])
				at++;
			index->slots[at & (index->num_slots - 1)] = ++number;
		}
	}
}

struct ledger_row ledgers_find(struct ledgers *ledgers, int rank, uint32_t comm, int32_t peer,
			       int32_t tag)
{
	struct index *index = &ledgers->indexes[rank];
	struct ledger_row sum = {0};
	uint32_t at = hash_key(comm, peer, tag), number;

	if (!index->slots)
		make_index(ledgers, rank);
	for (; (number = index->slots[at & (index->num_slots - 1)]) != 0; at++) {
		const struct model_ledger *row = get_row(ledgers, rank, number - 1);

		if (row->comm != comm || row->tag != tag || get_peer(ledgers, rank, row) != peer)
			continue;
		sum.sends += row->sends;
		sum.sends_done += row->sends_done;
		sum.receives += row->receives;
		sum.receives_done += row->receives_done;
		sum.taken += row->taken;
		sum.cancelled += row->cancelled;
	}
	return sum;
}

struct ledger_row ledgers_find_like(struct ledgers *ledgers, int rank,
				    const struct model_ledger *row)
{
	return ledgers_find(ledgers, rank, row->comm, get_peer(ledgers, rank, row), row->tag);
}

static int compare_totals(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	return (x->peer > y->peer) - (x->peer < y->peer);
}

static struct ledger_total total_of_row(const struct model_ledger *row)
{
	uint64_t got = row->receives_done;

	got = (got > row->cancelled ? got - row->cancelled : 0) + row->taken;
	return (struct ledger_total){
		.sends = row->sends,
		.got = got,
		.num_tags = got == 0                   ? 0
			    : row->tag == SEG_TAG_MANY ? MANY_TAGS
						       : 1,
	};
}

static void make_totals(struct ledgers *ledgers, int rank)
{
	const struct rank_lanes *lanes = &ledgers->ranks[rank];
	struct totals *totals = &ledgers->totals[rank];
	size_t num = 0, kept = 0;

	totals->totals =
		arena_array(ledgers->arena, count_rows(ledgers, rank), sizeof(*totals->totals));
	for (uint32_t l = 0; l < lanes->num; l++) {
		const struct model_lane *lane = ledgers->jm->lanes[lanes->first + l].data;

		/* What a receive with a wildcard got is counted as taken. */
		for (size_t i = 0; i < lane->num_ledger; i++)
			if (lane->ledger[i].tag >= 0 || lane->ledger[i].tag == SEG_TAG_MANY)
				totals->totals[num++] = (struct total){
					.comm = lane->ledger[i].comm,
					.peer = get_peer(ledgers, rank, &lane->ledger[i]),
					.sum = total_of_row(&lane->ledger[i]),
				};
	}
	qsort(totals->totals, num, sizeof(*totals->totals), compare_totals);
	for (size_t i = 0; i < num; i++) {
		struct total *last = kept > 0 ? &totals->totals[kept - 1] : NULL;

		if (last && compare_totals(last, &totals->totals[i]) == 0) {
			last->sum.sends += totals->totals[i].sum.sends;
			last->sum.got += totals->totals[i].sum.got;
			last->sum.num_tags += totals->totals[i].sum.num_tags;
		} else {
			totals->totals[kept++] = totals->totals[i];
		}
	}
	totals->num = kept;
}

struct ledger_total ledgers_find_total(struct ledgers *ledgers, int rank, uint32_t comm,
				       int32_t peer)
{
	const struct total key = {.comm = comm, .peer = peer};
	const struct total *found;

	if (!ledgers->totals[rank].totals)
		make_totals(ledgers, rank);
	found = bsearch(&key, ledgers->totals[rank].totals, ledgers->totals[rank].num, sizeof(key),
			compare_totals);
	return found ? found->sum : (struct ledger_total){0};
}

bool ledgers_are_tags_numbers(struct ledgers *ledgers, int rank, uint32_t comm, int32_t peer)
{
	return ledgers_find_total(ledgers, rank, comm, peer).num_tags >= MANY_TAGS;
}

bool ledgers_has_dropped(const struct ledgers *ledgers, int rank)
{
	const struct rank_lanes *lanes = &ledgers->ranks[rank];

	for (uint32_t l = 0; l < lanes->num; l++)
		if (ledgers->jm->lanes[lanes->first + l].data->dropped_ledger > 0)
			return true;
	return false;
}
