/* SPDX-License-Identifier: BSD-3-Clause
 * One-sided calls that only look. A program that waits for a window to change makes the same few
 * calls again and again. Rounds of looks whose answers do not change are polls, like an MPI_Iprobe
 * that finds nothing: counted, and no events. Whatever else the thread does continues from its
 * place in the round, as if all of them had been recorded.
 *
 * A call that may be a look costs a countdown. If it ends with nothing but such calls meanwhile,
 * what each asks for is remembered, until another call comes. When as many as are known have come
 * twice more in a row with no news, they are polls. An answer is compared after the call that
 * completes it (MPI_Win_flush, MPI_Win_unlock). It may have become unreadable by then, if a call
 * has failed. Nothing here knows MPI. */
#pragma once

#include "model/recorder/base.h"

struct lane;

enum {
	LOOKS_SAMPLE = 32,   /* calls from one that is looked at to the next, */
	LOOKS_REST = 1024,   /* or so many after too many different ones */
	LOOKS_MAX = 32,      /* different looks of a round */
	LOOKS_BYTES = 256,   /* of an answer; who gets more moves data */
	LOOKS_ROUNDS = 2,    /* known ones in a row, before they are polls: so many rounds, */
	LOOKS_REPEATED = 8,  /* and at least so many calls */
	LOOKS_WATCHED = 256, /* calls that are watched for that, and then a rest */
};

enum look_kind {
	LOOK_STEP, /* no look: it changes or moves something */
	LOOK_ASKS,
	LOOK_SWAPS,    /* compare and swap: a look unless the answer is what it compares with */
	LOOK_REPLACES, /* it stores what may be there already: then the answer is that */
	LOOK_SYNC,     /* after it the answers of that window are there */
	LOOK_OTHER,    /* gives no answer: a lock */
};

/* What a call asks for. */
struct look {
	enum look_kind kind;
	uint32_t window;            /* index in the segment's table, or SEG_NO_COMM */
	int32_t target;             /* or SEG_PEER_ANY */
	uint64_t what;              /* hash of all else that makes a difference */
	const void *answer, *other; /* where it comes to; what SWAPS and REPLACES compare with it */
	uint64_t bytes;             /* of these */
};

struct look_entry {
	uint64_t what;
	const void *answer;
	uint64_t value; /* hash of the last answer */
	uint64_t other; /* hash of what it is compared with */
	uint32_t window;
	int32_t target;
	uint32_t site;
	uint16_t bytes;
	uint8_t kind;
	uint8_t next; /* the look that came after it last; LOOKS_MAX: none yet */
	bool has_value, is_pending;
};

/* Of a lane. */
struct looks {
	uint64_t events;        /* of the lane when the last look had returned */
	uint32_t sample;        /* calls since the last one that was looked at */
	uint32_t num, repeated; /* known looks; of the last ones in a row that were known */
	uint32_t watched;       /* calls since this began, or since they were polls */
	uint32_t at, last; /* entry of the call in progress, of the one before; LOOKS_MAX: none */
	uint32_t polling_from; /* entry of the call in whose exit state the lane is while polling */
	bool is_watching;      /* what each asks for is remembered */
	bool is_polling;
	bool is_poll; /* the call in progress is */
	struct look_entry entries[LOOKS_MAX];
};

/* Another thread has taken the lane. */
static inline void looks_forget(struct looks *k)
{
	k->sample = LOOKS_SAMPLE;
	k->is_watching = k->is_polling = k->is_poll = false;
	k->events = UINT64_MAX;
	k->num = k->repeated = 0;
	k->at = k->last = LOOKS_MAX;
}

/* The countdown is over: are the calls watched, or is it to begin now? Else it starts anew. */
COLD bool looks_repeat(struct lane *l);

/* Before a call that looks_are_due() for, its evidence and its event: is it a poll? */
bool looks_begin(struct lane *l, const struct look *look);

/* After its evidence: of a poll that is said to be of the present stay. */
void looks_operation(struct lane *l);

/* It has returned. False: its answer, or that of one before it, is a new one. */
bool looks_told_nothing(struct lane *l);

/* That has been recorded. */
void looks_end(struct lane *l);

/* Another call comes, or a poll that was successful, and polls were counted: make the events of
 * those looks of the last round that led from the present state to the last look. Within no
 * section. */
void looks_resume(struct lane *l);
