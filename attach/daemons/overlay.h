/* SPDX-License-Identifier: BSD-3-Clause
 * The tree along which pdb's daemons answer, the state of one question, and its bytes. No MPI, no
 * clock: pdbd_tree.c has both.
 *
 * The tree is binomial, as in MPI's own broadcasts (Thakur, Rabenseifner and Gropp, "Optimization
 * of Collective Communication Operations in MPICH", 2005). It is over *members*, numbered without
 * gaps from 0, the daemon that speaks to pdb. The subtree of i has consecutive numbers from i on,
 * so who is missing below a silent member is two numbers. Daemons that were silent are no members
 * of the next question, so nobody asks through them. */
#pragma once

#include "model/base.h"

#define OVERLAY_CHILDREN_MAX 32

/* The members that answer to member i of n, largest subtrees first. Returns how many. */
size_t overlay_children(uint32_t i, uint32_t n, uint32_t children[OVERLAY_CHILDREN_MAX]);

/* Whom member i > 0 answers to. */
uint32_t overlay_parent(uint32_t i);

/* How many members are at and below i. */
uint32_t overlay_subtree(uint32_t i, uint32_t n);

/* How long member i may wait: less than the level above, so that answers with holes are in time. */
int overlay_budget_ms(uint32_t i, uint32_t n, int total_ms);

/* Numbers first, first + 1, ..., first + count - 1. */
struct overlay_range {
	uint32_t first, count;
};

/* A set of numbers as ranges. Start from zeroes; overlay_ranges_deinit() frees it. */
struct overlay_ranges {
	struct overlay_range *ranges;
	size_t num, capacity;
};

void overlay_ranges_deinit(struct overlay_ranges *set);

/* Append a range as it is; joined with the last one where it follows it. */
void overlay_ranges_append(struct overlay_ranges *set, uint32_t first, uint32_t count);
void overlay_ranges_add(struct overlay_ranges *set, uint32_t first, uint32_t count);

/* How many numbers there are in all. */
uint32_t overlay_ranges_total(const struct overlay_ranges *set);

/* The i-th of all numbers, i below the total; and where a number stands, -1 if it is not there. */
uint32_t overlay_ranges_at(const struct overlay_ranges *set, uint32_t i);
int64_t overlay_ranges_index(const struct overlay_ranges *set, uint32_t number);

/* A member that works on a question, or waits for those below it, says so this often. One that is
 * silent for OVERLAY_SILENCE_MS has died, is stopped or cut off, and is not waited for. */
#define OVERLAY_PULSE_MS 500
#define OVERLAY_SILENCE_MS 3000

/* One question at one member: its own answer is being made, those of its children are awaited. */
struct reduction {
	uint32_t sequence; /* of the question; answers bear it */
	uint32_t self, num_members;
	int64_t deadline_ms;
	uint32_t children[OVERLAY_CHILDREN_MAX];
	bool has_answered[OVERLAY_CHILDREN_MAX];
	int64_t heard_ms[OVERLAY_CHILDREN_MAX]; /* when each last gave a sign of life */
	size_t num_children;
};

/* budget_ms: overlay_budget_ms(). now_ms is of any clock that only goes up. */
void reduction_begin(struct reduction *reduction, uint32_t sequence, uint32_t self,
		     uint32_t num_members, int budget_ms, int64_t now_ms);

/* Member `from` says that it is at work on the question `sequence`. */
void reduction_hear(struct reduction *reduction, uint32_t sequence, uint32_t from, int64_t now_ms);

/* An answer has come. False: it was not awaited, or comes a second time, and is not to be
 * merged. */
bool reduction_take(struct reduction *reduction, uint32_t sequence, uint32_t from);

/* All have answered, or those who have not are silent, or it is too late. */
bool reduction_is_done(const struct reduction *reduction, int64_t now_ms);

/* Append, not joined, each child that has not answered with all below it: the first of a range is
 * silent, of the rest nothing is known. */
void reduction_holes(const struct reduction *reduction, struct overlay_ranges *holes);

#define OVERLAY_PAYLOAD_MAX (1u << 30) /* longer ones are not sent: their sender becomes a hole */
#define OVERLAY_TOTAL_MS_MAX 1000000u  /* no question may take longer */

/* Kinds of what is no question. */
#define OVERLAY_ANSWER 0u
#define OVERLAY_ALIVE 0xffffffffu /* still at work on the question */

struct overlay_message {
	uint32_t sequence; /* of the question */
	uint32_t kind;     /* of a question: what is asked */
	uint32_t total_ms; /* of a question: how long member 0 waits */
	/* Of a question: the daemons that are its members. Of an answer: the members that are
	 * missing in it, each range begun by the one that was silent. */
	struct overlay_ranges ranges;
	const uint8_t *payload; /* borrowed */
	size_t length;
};

void overlay_put(struct buffer *ret, const struct overlay_message *message);

/* The payload points into `bytes`; the caller deinits the ranges. False for what is cut off or
 * beyond its bounds: ranges are not empty, in 0 .. limit-1 and no more than `limit` numbers in
 * all. */
bool overlay_take(const uint8_t *bytes, size_t length, uint32_t limit, struct overlay_message *ret);
