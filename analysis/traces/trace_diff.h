/* SPDX-License-Identifier: BSD-3-Clause
 * How two traces differ (DiffTrace's diffNLR): two columns, with what both have in common side by
 * side. Elements are compared, whole loops among them, not events. If one side leaves a loop in the
 * middle of an iteration, the iterations of the other side are split: those that both did, the next
 * one with its elements, and the rest. */
#ifndef PDB_ANALYSIS_TRACE_DIFF_H
#define PDB_ANALYSIS_TRACE_DIFF_H

#include "analysis/traces/trace_set.h"

enum trace_diff_kind {
	TRACE_DIFF_SAME,  /* the same on both sides */
	TRACE_DIFF_COUNT, /* the same, but not as often */
	TRACE_DIFF_BODY, /* a loop here and one there that do similar things: see the rows inside */
	TRACE_DIFF_LEFT, /* on the left side only */
	TRACE_DIFF_RIGHT, /* on the right side only */
};

struct trace_diff_row {
	enum trace_diff_kind kind;
	unsigned int depth;        /* loops around it */
	struct trace_element left; /* symbol TRACE_NONE: nothing */
	struct trace_element right;
	/* Of a BODY: how many rows are in the two loops, and the first. These are compared once:
	 * when it is not the next row they are inside of an earlier row. */
	size_t num_inside, inside;
};

struct trace_diff {
	struct trace_diff_row *rows; /* in the order of both sides; left before right */
	size_t num, capacity;
	/* Events in rows of each kind, loops with all iterations, all in a BODY as that. */
	uint64_t events_left[TRACE_DIFF_RIGHT + 1], events_right[TRACE_DIFF_RIGHT + 1];
};

/* Of two bodies of the set, as the roots of two traces. It lives in the arena. */
struct trace_diff *trace_diff_create(struct arena *arena, const struct trace_set *set,
				     uint32_t left, uint32_t right);

#endif
