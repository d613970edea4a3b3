/* SPDX-License-Identifier: BSD-3-Clause
 * A lane's ledger: messages counted by (communicator, peer, tag). Only the thread that holds the
 * lane calls these. */
#ifndef PDB_RECORDER_LEDGER_H
#define PDB_RECORDER_LEDGER_H

#include "model/recorder/lane.h"

enum {
	LEDGER_NO_ROW = UINT32_MAX, /* not counted: no partner, communicator not known, no room */
	/* From so many rows on a peer that has one gets only one more, for its other tags:
	 * programs that take a new tag for each message (BLACS) would have most of their memory
	 * in the ledger. */
	LEDGER_MANY = SEG_MAX_LEDGER / 4,
	/* So many rows at most for tags of their own: the others are kept for SEG_TAG_MANY and
	 * tokens. */
	LEDGER_MAX_TAGS = SEG_MAX_LEDGER / 4 * 3,
};

/* What is known of a row without a look at the segment: whose it is, and which row was asked for
 * after it last time. */
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

/* The row that is expected, or LEDGER_NO_ROW if that is not the one: the last one again, or the one
 * that came after it last time, since programs go round their partners in the same order. */
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

/* The communicator was freed, and its entry will be another's: its rows count from 0 again. By any
 * thread, since none counts in them any more. */
void ledger_forget(struct lane *l, uint32_t comm);

/* What happened was not counted, since it is not known which row it belongs to. */
void ledger_lost(struct lane *l);

/* Counts: the number after counting; 0 without a row. */
static inline uint64_t ledger_sends(struct lane *l, uint32_t row)
{
	return row == LEDGER_NO_ROW ? 0 : lane_add(&l->ledger[row].sends, 1);
}

static inline uint64_t ledger_receives(struct lane *l, uint32_t row)
{
	return row == LEDGER_NO_ROW ? 0 : lane_add(&l->ledger[row].receives, 1);
}

static inline void ledger_sent(struct lane *l, uint32_t row)
{
	if (row != LEDGER_NO_ROW)
		lane_add(&l->ledger[row].sends_done, 1);
}

static inline void ledger_received(struct lane *l, uint32_t row)
{
	if (row != LEDGER_NO_ROW)
		lane_add(&l->ledger[row].receives_done, 1);
}

/* MPI refused the call. */
static inline void ledger_not_sending(struct lane *l, uint32_t row)
{
	if (row != LEDGER_NO_ROW)
		lane_add(&l->ledger[row].sends, -1);
}

static inline void ledger_not_receiving(struct lane *l, uint32_t row)
{
	if (row != LEDGER_NO_ROW)
		lane_add(&l->ledger[row].receives, -1);
}

void ledger_cancelled(struct lane *l, uint32_t row);

/* A wildcard has got a message. */
void ledger_taken(struct lane *l, uint32_t comm, int32_t source, int32_t tag);

#endif
