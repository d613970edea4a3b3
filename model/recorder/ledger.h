/* SPDX-License-Identifier: BSD-3-Clause
 * A lane's ledger: messages counted by (communicator, peer, tag). Only its thread calls these. */
#pragma once

#include "model/recorder/lane.h"

enum {
	LEDGER_NO_ROW = UINT32_MAX, /* not counted: no partner, communicator not known, no room */
	/* From so many rows on a peer gets only one more, for its other tags: programs that take a
	 * new tag for each message (BLACS) would have most of their memory in the ledger. */
	LEDGER_MANY = SEG_MAX_LEDGER / 4,
	/* So many for tags of their own at most: the rest is for SEG_TAG_MANY and tokens. */
	LEDGER_MAX_TAGS = SEG_MAX_LEDGER / 4 * 3,
};

/* A row's private copy: whose it is, and which row was asked for after it last time. */
struct ledger_next {
	uint32_t comm;
	int32_t peer, tag;
	uint32_t row;
};

/* Nothing is expected yet. `next_rows` has SEG_MAX_LEDGER. */
static inline void ledger_init(struct lane *l, struct ledger_next *next_rows)
{
	l->next_rows = next_rows;
	/* The first row is not there yet: what nobody asks for. */
	next_rows[0] = (struct ledger_next){
		.comm = SEG_NO_COMM, .peer = SEG_PEER_NULL, .tag = SEG_TAG_MANY};
}

/* The row, added if it is new, or that of SEG_TAG_MANY; LEDGER_NO_ROW. */
uint32_t ledger_find(struct lane *l, uint32_t comm, int32_t peer, int32_t tag);

/* Not a word made of peer and tag: the compiler would read both at once, and the processor is
 * slow to read as one what was stored in parts a moment ago. */
static inline uint64_t ledger_key(uint32_t comm, int32_t peer, int32_t tag)
{
	return (uint32_t)tag + (uint32_t)peer * 0x9e3779b97f4a7c15u + comm * 0xc2b2ae3d27d4eb4fu;
}

static inline bool ledger_is(const struct seg_ledger *row, uint32_t comm, int32_t peer, int32_t tag)
{
	return row->comm == comm && row->peer == peer && row->tag == tag;
}

static inline bool ledger_next_is(const struct ledger_next *next, uint32_t comm, int32_t peer,
				  int32_t tag)
{
	return next->peer == peer && next->tag == tag && next->comm == comm;
}

/* The last row, or the one that came after it last time, since programs go round their partners in
 * the same order; LEDGER_NO_ROW: another one. */
static ALWAYS_INLINE uint32_t ledger_expected(const struct lane *l, uint32_t comm, int32_t peer,
					      int32_t tag)
{
	const struct ledger_next *last = &l->next_rows[l->row];

	if (ledger_next_is(last, comm, peer, tag))
		return l->row;
	if (likely(ledger_next_is(&l->next_rows[last->row], comm, peer, tag)))
		return last->row;
	return LEDGER_NO_ROW;
}

/* As ledger_find(), fast for a row that is expected. */
static ALWAYS_INLINE uint32_t ledger_row(struct lane *l, uint32_t comm, int32_t peer, int32_t tag)
{
	uint32_t row = ledger_expected(l, comm, peer, tag);

	if (unlikely(row == LEDGER_NO_ROW))
		return ledger_find(l, comm, peer, tag);
	l->row = row;
	return row;
}

/* Another communicator gets the entry: its rows count from 0. By any thread: none counts there. */
void ledger_forget(struct lane *l, uint32_t comm);

/* Something was not counted: its row is not known. */
void ledger_lost(struct lane *l);

/* Of messages that are sent, or received. */
enum ledger_way { LEDGER_SEND, LEDGER_RECEIVE };

static ALWAYS_INLINE _Atomic uint64_t *ledger_started(struct lane *l, enum ledger_way way,
						      uint32_t row)
{
	return way == LEDGER_SEND ? &l->ledger[row].sends : &l->ledger[row].receives;
}

static ALWAYS_INLINE _Atomic uint64_t *ledger_ended(struct lane *l, enum ledger_way way,
						    uint32_t row)
{
	return way == LEDGER_SEND ? &l->ledger[row].sends_done : &l->ledger[row].receives_done;
}

/* One more: the number after counting; 0 without a row. */
static ALWAYS_INLINE uint64_t ledger_start(struct lane *l, enum ledger_way way, uint32_t row)
{
	return row == LEDGER_NO_ROW ? 0 : lane_add(ledger_started(l, way, row), 1);
}

static ALWAYS_INLINE void ledger_end(struct lane *l, enum ledger_way way, uint32_t row)
{
	if (row != LEDGER_NO_ROW)
		lane_add(ledger_ended(l, way, row), 1);
}

/* MPI refused the call. */
static ALWAYS_INLINE void ledger_take_back(struct lane *l, enum ledger_way way, uint32_t row)
{
	if (row != LEDGER_NO_ROW)
		lane_add(ledger_started(l, way, row), -1);
}

void ledger_cancelled(struct lane *l, uint32_t row);

/* A wildcard has got a message. */
void ledger_taken(struct lane *l, uint32_t comm, int32_t source, int32_t tag);
