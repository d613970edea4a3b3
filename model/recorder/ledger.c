/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/ledger.h"

void ledger_lost(struct lane *l)
{
	struct seg_table *table = &l->seg->tables[SEG_LANE_LEDGER];

	relaxed_set(&table->dropped, relaxed_get(&table->dropped) + 1);
}

void ledger_forget(struct lane *l, uint32_t comm)
{
	uint32_t count =
		atomic_load_explicit(&l->seg->tables[SEG_LANE_LEDGER].count, memory_order_acquire);

	for (uint32_t i = 0; i < count; i++) {
		if (l->next_rows[i].comm != comm)
			continue;
		struct seg_ledger *row = &l->ledger[i];
		relaxed_set(&row->cancelled, 0);
		relaxed_set(&row->sends, 0);
		relaxed_set(&row->sends_done, 0);
		relaxed_set(&row->receives, 0);
		relaxed_set(&row->receives_done, 0);
		relaxed_set(&row->taken, 0);
	}
}

static uint32_t find(const struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	static_assert((uint32_t)LEDGER_NO_ROW == IDHASH_NONE, "none is none");
	return IDHASH_FIND(&l->rows, ledger_key(comm, peer, tag), row,
			   ledger_is(&l->ledger[row], comm, peer, tag));
}

static bool has_room(struct lane *l)
{
	uint32_t at = relaxed_get(&l->seg->tables[SEG_LANE_LEDGER].count);

	return at < SEG_MAX_LEDGER && lane_has_room(l, SEG_LANE_LEDGER, at + 1);
}

/* There is room. */
static uint32_t add(struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	struct seg_table *table = &l->seg->tables[SEG_LANE_LEDGER];
	uint32_t at = relaxed_get(&table->count);

	if (!idhash_add(&l->rows, ledger_key(comm, peer, tag), at))
		return LEDGER_NO_ROW;
	l->ledger[at].comm = comm;
	l->ledger[at].peer = peer;
	l->ledger[at].tag = tag;
	l->next_rows[at] = (struct ledger_next){.comm = comm, .peer = peer, .tag = tag, .row = at};
	/* Pairs with the reader's acquire load: it then sees whose row it is. */
	atomic_store_explicit(&table->count, at + 1, memory_order_release);
	return at;
}

/* Has the peer a row, of any tag? */
static bool has_row(const struct lane *l, uint32_t comm, int32_t peer)
{
	uint32_t count = relaxed_get(&l->seg->tables[SEG_LANE_LEDGER].count);

	for (uint32_t i = 0; i < count; i++)
		if (l->next_rows[i].comm == comm && l->next_rows[i].peer == peer)
			return true;
	return false;
}

/* May a message's tag have a row of its own? */
static bool is_for_own(const struct lane *l, uint32_t comm, int32_t peer)
{
	uint32_t count = relaxed_get(&l->seg->tables[SEG_LANE_LEDGER].count);

	return count < LEDGER_MANY || (count < LEDGER_MAX_TAGS && !has_row(l, comm, peer));
}

/* The row that counts it, there is none of its own: that of the peer's other tags, or a new one. */
static uint32_t share_or_add(struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	bool is_message = tag >= SEG_TAG_ANY; /* only these may share */
	uint32_t row = LEDGER_NO_ROW;

	if (comm == SEG_NO_COMM || peer == SEG_PEER_NULL)
		return LEDGER_NO_ROW;
	if (is_message)
		row = find(l, comm, peer, SEG_TAG_MANY);
	/* Without room for one more the rows are not looked through, at each message. */
	if (row == LEDGER_NO_ROW && has_room(l))
		row = add(l, comm, peer,
			  is_message && !is_for_own(l, comm, peer) ? SEG_TAG_MANY : tag);
	if (row == LEDGER_NO_ROW)
		ledger_lost(l);
	return row;
}

uint32_t ledger_find(struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	uint32_t row = find(l, comm, peer, tag);

	if (row == LEDGER_NO_ROW)
		row = share_or_add(l, comm, peer, tag);
	if (row != LEDGER_NO_ROW) {
		l->next_rows[l->row].row = row;
		l->row = row;
	}
	return row;
}

void ledger_cancelled(struct lane *l, uint32_t row)
{
	if (row == LEDGER_NO_ROW)
		return;
	_Atomic uint32_t *word = &l->ledger[row].cancelled;
	relaxed_set(word, relaxed_get(word) + 1);
}

void ledger_taken(struct lane *l, uint32_t comm, int32_t source, int32_t tag)
{
	uint32_t row = ledger_row(l, comm, source, tag);

	if (row != LEDGER_NO_ROW)
		lane_add(&l->ledger[row].taken, 1);
}
