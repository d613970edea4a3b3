/* SPDX-License-Identifier: BSD-3-Clause
 * An index is a hash table of the rows' numbers by open addressing; rows of one key that several
 * lanes have are found one after the other. */
#include <stdlib.h>

#include "analysis/ledgers.h"
#include "model/job_model.h"
#include "model/model.h"
#include "model/xalloc.h"

/* Rows of a rank are numbered lane by lane. A slot holds a row's number and 1, or 0. */
struct index {
	uint32_t *slots; /* [num_slots], a power of two; NULL: not made yet */
	uint32_t num_slots;
};

struct ledgers {
	const struct job_model *jm;
	const struct rank_lanes *ranks;
	size_t num_ranks;
	struct index *indexes; /* [num_ranks] */
};

struct ledgers *ledgers_create(const struct job_model *jm, const struct rank_lanes *ranks,
			       size_t num_ranks)
{
	struct ledgers *ledgers = xcalloc(1, sizeof(*ledgers));

	ledgers->jm = jm;
	ledgers->ranks = ranks;
	ledgers->num_ranks = num_ranks;
	ledgers->indexes = xcalloc(num_ranks, sizeof(*ledgers->indexes));
	return ledgers;
}

void ledgers_destroy(struct ledgers *ledgers)
{
	if (!ledgers)
		return;
	for (size_t r = 0; r < ledgers->num_ranks; r++)
		free(ledgers->indexes[r].slots);
	free(ledgers->indexes);
	free(ledgers);
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

static void make_index(struct ledgers *ledgers, int rank)
{
	const struct rank_lanes *lanes = &ledgers->ranks[rank];
	struct index *index = &ledgers->indexes[rank];
	uint32_t number = 0;
	size_t num_rows = 0;

	for (uint32_t l = 0; l < lanes->num; l++)
		num_rows += ledgers->jm->lanes[lanes->first + l].data->num_ledger;
	index->num_slots = 4;
	while (index->num_slots < 2 * num_rows)
		index->num_slots *= 2;
	index->slots = xcalloc(index->num_slots, sizeof(*index->slots));
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
		sum.num_lanes++;
	}
	return sum;
}

struct ledger_row ledgers_find_like(struct ledgers *ledgers, int rank,
				    const struct model_ledger *row)
{
	return ledgers_find(ledgers, rank, row->comm, get_peer(ledgers, rank, row), row->tag);
}

bool ledgers_has_dropped(const struct ledgers *ledgers, int rank)
{
	const struct rank_lanes *lanes = &ledgers->ranks[rank];

	for (uint32_t l = 0; l < lanes->num; l++)
		if (ledgers->jm->lanes[lanes->first + l].data->dropped_ledger > 0)
			return true;
	return false;
}
