/* SPDX-License-Identifier: BSD-3-Clause
 * An index is the sorted rows of all lanes of a rank; totals are by communicator and peer. */
#include "analysis/thresholds.h"
#include "analysis/waits/waitfor_private.h"

/* Rows may be shared by ranks, so the peer is not in them. */
struct row {
	uint32_t comm;
	int32_t peer;
	const struct model_ledger *ledger;
};

struct total {
	uint32_t comm;
	int32_t peer;
	struct ledger_total sum;
};

struct index {
	struct row *rows; /* by communicator, peer and tag; NULL: not made yet */
	size_t num_rows;
	struct total *totals; /* by communicator and peer; NULL: not made yet */
	size_t num_totals;
};

struct ledgers {
	struct arena *arena;
	const struct job_model *jm;
	const struct rank_actors *ranks;
	struct index *indexes; /* [num_ranks] */
};

struct ledgers *ledgers_create(const struct job_model *jm, const struct rank_actors *ranks,
			       size_t num_ranks, struct arena *arena)
{
	struct ledgers *ledgers = arena_alloc(arena, sizeof(*ledgers));

	*ledgers = (struct ledgers){
		.arena = arena,
		.jm = jm,
		.ranks = ranks,
		.indexes = arena_array(arena, num_ranks, sizeof(*ledgers->indexes)),
	};
	return ledgers;
}

SORTED_BY(compare_rows, struct row, comm, peer, ledger->tag)

SORTED_BY(compare_totals, struct total, comm, peer)

static bool is_same_total(const struct row *a, const struct row *b)
{
	return a->comm == b->comm && a->peer == b->peer;
}

static void add_to_totals(struct index *index, const struct row *row)
{
	const struct model_ledger *ledger = row->ledger;
	struct total *last = index->num_totals ? &index->totals[index->num_totals - 1] : NULL;
	uint64_t got = ledger->receives_done;

	/* What a receive with a wildcard got is counted as taken. */
	if (ledger->tag < 0 && ledger->tag != SEG_TAG_MANY)
		return;
	if (!last || last->comm != row->comm || last->peer != row->peer) {
		last = &index->totals[index->num_totals++];
		*last = (struct total){.comm = row->comm, .peer = row->peer};
	}
	got = (got > ledger->cancelled ? got - ledger->cancelled : 0) + ledger->taken;
	last->sum.sends += ledger->sends;
	last->sum.got += got;
	if (got > 0)
		last->sum.num_tags += ledger->tag == SEG_TAG_MANY ? thresholds.many_tags : 1;
}

static struct index *get_index(struct ledgers *ledgers, int rank)
{
	const struct rank_actors *lanes = &ledgers->ranks[rank];
	const struct job_lane *first = &ledgers->jm->lanes[lanes->first];
	struct index *index = &ledgers->indexes[rank];
	size_t num = 0;

	if (index->rows)
		return index;
	for (uint32_t l = 0; l < lanes->num; l++)
		num += first[l].data->num_ledger;
	index->rows = arena_array(ledgers->arena, num, sizeof(*index->rows));
	for (uint32_t l = 0; l < lanes->num; l++)
		for (size_t i = 0; i < first[l].data->num_ledger; i++) {
			const struct model_ledger *ledger = &first[l].data->ledger[i];

			index->rows[index->num_rows++] = (struct row){
				.comm = ledger->comm,
				.peer = model_ledger_peer(first[l].model, ledger),
				.ledger = ledger,
			};
		}
	sorted_make(index->rows, num, sizeof(*index->rows), compare_rows);
	return index;
}

struct ledger_row ledgers_find(struct ledgers *ledgers, int rank, uint32_t comm, int32_t peer,
			       int32_t tag)
{
	const struct index *index = get_index(ledgers, rank);
	const struct model_ledger wanted = {.tag = tag};
	const struct row key = {comm, peer, &wanted};
	size_t i = sorted_first(&key, index->rows, index->num_rows, sizeof(key), compare_rows);
	struct ledger_row sum = {0};

	for (; i < index->num_rows && compare_rows(&index->rows[i], &key) == 0; i++) {
		const struct model_ledger *row = index->rows[i].ledger;

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
	const struct model *model = ledgers->jm->lanes[ledgers->ranks[rank].first].model;

	return ledgers_find(ledgers, rank, row->comm, model_ledger_peer(model, row), row->tag);
}

uint64_t ledgers_count_open(struct ledgers *ledgers, int rank, uint32_t comm, int32_t peer,
			    int32_t tag)
{
	const struct ledger_row wild[] = {
		ledgers_find(ledgers, rank, comm, peer, SEG_TAG_ANY),
		ledgers_find(ledgers, rank, comm, SEG_PEER_ANY, tag),
		ledgers_find(ledgers, rank, comm, SEG_PEER_ANY, SEG_TAG_ANY),
		ledgers_find(ledgers, rank, comm, SEG_PEER_ANY, SEG_TAG_MANY),
	};
	uint64_t num = 0;

	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++)
		if (wild[i].receives > wild[i].receives_done)
			num += wild[i].receives - wild[i].receives_done;
	return num;
}

struct ledger_total ledgers_find_total(struct ledgers *ledgers, int rank, uint32_t comm,
				       int32_t peer)
{
	struct index *index = get_index(ledgers, rank);
	const struct total key = {.comm = comm, .peer = peer};
	const struct total *found;

	if (!index->totals) {
		size_t num = 0;

		for (size_t i = 0; i < index->num_rows; i++)
			num += i == 0 || !is_same_total(&index->rows[i - 1], &index->rows[i]);
		index->totals = arena_array(ledgers->arena, num, sizeof(*index->totals));
		for (size_t i = 0; i < index->num_rows; i++)
			add_to_totals(index, &index->rows[i]);
	}
	found = bsearch(&key, index->totals, index->num_totals, sizeof(key), compare_totals);
	return found ? found->sum : (struct ledger_total){0};
}

bool ledgers_are_tags_numbers(struct ledgers *ledgers, int rank, uint32_t comm, int32_t peer)
{
	return ledgers_find_total(ledgers, rank, comm, peer).num_tags >= thresholds.many_tags;
}

bool ledgers_has_dropped(const struct ledgers *ledgers, int rank)
{
	const struct rank_actors *lanes = &ledgers->ranks[rank];

	for (uint32_t l = 0; l < lanes->num; l++)
		if (ledgers->jm->lanes[lanes->first + l].data->dropped_ledger > 0)
			return true;
	return false;
}
