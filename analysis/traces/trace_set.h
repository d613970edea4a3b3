/* SPDX-License-Identifier: BSD-3-Clause
 * Traces of many ranks or several runs in one set. Equal loops have equal numbers in all of them,
 * and so have equal traces: comparing them is comparing numbers. */
#ifndef PDB_ANALYSIS_TRACE_SET_H
#define PDB_ANALYSIS_TRACE_SET_H

#include "model/std.h"
#include "model/trace/trace.h"

struct arena;

/* A body is a row of elements: that of a loop, or a whole trace. Loops in it have lower numbers.
 * Unlike in a trace it may have one element (or, as a whole trace, none). */
struct trace_set {
	struct arena *arena;
	struct blobs *rows; /* of the bodies: each of them once */
	uint64_t *lengths;  /* [num_bodies] in events */
	size_t num_bodies, lengths_capacity;
	uint32_t *roots; /* [num_traces] the body that is the whole trace */
	size_t num_traces, traces_capacity;
};

/* It lives in the arena. */
struct trace_set *trace_set_create(struct arena *arena);

/* Add a trace; its index. symbols[s] is what its symbol s is in the set: equal for what is to be
 * equal, below TRACE_LOOP; TRACE_NONE leaves it out; NULL: the same numbers. What has become equal
 * beside each other is one element, and a loop over nothing is left out. */
size_t trace_set_add(struct trace_set *set, const struct trace *trace, const uint32_t *symbols);

/* The elements of a body, which may be given with TRACE_LOOP. Borrowed, until the next trace. */
const struct trace_element *trace_set_row(const struct trace_set *set, uint32_t body,
					  size_t *num_ret);
/* Events of an element's symbol, once. */
uint64_t trace_set_length(const struct trace_set *set, uint32_t symbol);
/* The first and the last event of a symbol or body, given with TRACE_LOOP; not of an empty body. */
uint32_t trace_set_first(const struct trace_set *set, uint32_t symbol);
uint32_t trace_set_last(const struct trace_set *set, uint32_t symbol);

#endif
