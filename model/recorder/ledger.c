/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/ledger.h"

#define RELAXED memory_order_relaxed

void ledger_lost(struct lane *l)
{
	struct seg_table *table = &l->seg->tables[SEG_LANE_LEDGER];

	atomic_store_explicit(&table->dropped, atomic_load_explicit(&table->dropped, RELAXED) + 1,
			      RELAXED);
}

void ledger_forget(struct lane *l, uint32_t comm)
{
	uint32_t count =
		atomic_load_explicit(&l->seg->tables[SEG_LANE_LEDGER].count, memory_order_acquire);

	for (uint32_t i = 0; i < count; i++) {
		struct seg_ledger *row = &l->ledger[i];

		if (row->comm != comm)
			continue;
		atomic_store_explicit(&row->cancelled, 0, RELAXED);
		atomic_store_explicit(&row->sends, 0, RELAXED);
		atomic_store_explicit(&row->sends_done, 0, RELAXED);
		atomic_store_explicit(&row->receives, 0, RELAXED);
		atomic_store_explicit(&row->receives_done, 0, RELAXED);
		atomic_store_explicit(&row->taken, 0, RELAXED);
	}
}

void ledger_init(struct lane *l, struct ledger_next *next_rows)
{
	l->next_rows = next_rows;
	/* The first row is not there yet: what nobody asks for. */
	next_rows[0] = (struct ledger_next){
		.comm = SEG_NO_COMM, .peer = SEG_PEER_NULL, .tag = SEG_TAG_MANY};
}

static uint32_t find(const struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	struct idhash_probe probe = idhash_probe(&l->rows, ledger_key(comm, peer, tag));
	uint32_t id;

	while ((id = idhash_next(&l->rows, &probe)) != IDHASH_NONE)
		if (ledger_is(&l->ledger[id], comm, peer, tag))
			return id;
	return LEDGER_NO_ROW;
}

static uint32_t add(struct lane *l, uint32_t comm, int32_t peer, int32_t tag, uint32_t limit)
{
	struct seg_table *table = &l->seg->tables[SEG_LANE_LEDGER];
	uint32_t at = atomic_load_explicit(&table->count, RELAXED);

	if (at >= limit)
		return LEDGER_NO_ROW;
	if (!lane_has_room(l, SEG_LANE_LEDGER, at + 1) ||
	    !idhash_add(&l->rows, ledger_key(comm, peer, tag), at))
		return LEDGER_NO_ROW;
	l->ledger[at].comm = comm;
	l->ledger[at].peer = peer;
	l->ledger[at].tag = tag;
	l->next_rows[at] = (struct ledger_next){.comm = comm, .peer = peer, .tag = tag, .row = at};
	/* Pairs with the reader's acquire load: it then sees whose row it is. */
	atomic_store_explicit(&table->count, at + 1, memory_order_release);
	return at;
}

/* The row that counts it, not there yet. */
static uint32_t add_or_share(struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	uint32_t row;

	if (comm == SEG_NO_COMM || peer == SEG_PEER_NULL)
		return LEDGER_NO_ROW;
	row = add(l, comm, peer, tag, LEDGER_MAX_TAGS);
	if (row != LEDGER_NO_ROW)
		return row;
	/* Only messages may share a row. */
	if (tag >= SEG_TAG_ANY) {
		row = find(l, comm, peer, SEG_TAG_MANY);
		if (row == LEDGER_NO_ROW)
			row = add(l, comm, peer, SEG_TAG_MANY, SEG_MAX_LEDGER);
	}
	if (row == LEDGER_NO_ROW)
		ledger_lost(l);
	return row;
}

uint32_t ledger_find(struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	uint32_t row = find(l, comm, peer, tag);

	if (row == LEDGER_NO_ROW)
		row = add_or_share(l, comm, peer, tag);
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
	atomic_store_explicit(word, atomic_load_explicit(word, RELAXED) + 1, RELAXED);
}

void ledger_taken(struct lane *l, uint32_t comm, int32_t source, int32_t tag)
{
	uint32_t row = ledger_row(l, comm, source, tag);

	if (row != LEDGER_NO_ROW)
		lane_add(&l->ledger[row].taken, 1);
}
