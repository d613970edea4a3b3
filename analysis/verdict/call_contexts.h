/* SPDX-License-Identifier: BSD-3-Clause
 * What was called before each call of several lanes (ranks, or threads of them), to find the same
 * calls again in few steps. Each call gets a name for the 1, 2, 4 .. 256 calls up to itself. Equal
 * sequences have equal names; names are in the order of the calls read backwards (U. Manber, G.
 * Myers, "Suffix arrays: a new method for on-line string searches", SIAM J. Comput. 22(5),
 * 1993). */
#pragma once

#include "model/base.h"

enum {
	CALL_CONTEXT_LEVELS = 9,
	CALL_CONTEXT_MEMORY = 1 << (CALL_CONTEXT_LEVELS - 1), /* most calls that are compared */
};

/* The last calls of one lane, oldest first. */
struct call_list {
	const uint32_t *calls;
	size_t num;
};

/* A moment is that after a call, and is known by it: an index of calls[]. */
struct call_contexts {
	size_t num_lanes, num_calls, num_kinds;
	uint32_t *first; /* [num_lanes + 1] of a lane's calls */
	uint32_t *calls; /* [num_calls] of one lane after the other: an index of kinds[] */
	uint32_t *kinds; /* [num_kinds] calls, as they were given */
	uint32_t *start; /* [num_calls] the first call of the same lane */
	uint32_t *names[CALL_CONTEXT_LEVELS]; /* [num_calls] of 2^level calls; 0: there are fewer */
	size_t num_moments;                   /* those that a call follows */
	uint32_t *order;      /* [num_moments] moments, sorted by the calls before them */
	uint32_t *place;      /* [num_calls] where a moment is in order[] */
	uint32_t *followed;   /* [num_moments] places, by what follows there, then in their order */
	uint32_t *kind_first; /* [num_kinds + 1] of followed[] */
};

/* Places that lie side by side, from first to before end. */
struct call_range {
	size_t first, end;
};

/* Copies the last max_calls calls, at most, of each lane. Some hundred steps for each call. */
struct call_contexts *call_contexts_create(const struct call_list *lanes, size_t num,
					   size_t max_calls, struct arena *arena);
/* How many calls before both moments are the same, up to CALL_CONTEXT_MEMORY. */
size_t call_contexts_count_same(const struct call_contexts *c, uint32_t a, uint32_t b);
/* The places, its own among them, of moments with the same calls before them: `memory` of these, 1
 * to CALL_CONTEXT_MEMORY. */
struct call_range call_contexts_find_alike(const struct call_contexts *c, uint32_t moment,
					   size_t memory);
/* In followed[] the first place from `place` on that the call follows, or kind_first[call + 1]. */
size_t call_contexts_find_followed(const struct call_contexts *c, uint32_t call, size_t place);
