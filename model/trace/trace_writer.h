/* SPDX-License-Identifier: BSD-3-Clause
 * Compresses a trace while it is made, one event at a time, by nested loop recognition (Ketterlin
 * and Clauss, "Prediction and trace compression of data access addresses through nested loop
 * recognition", CGO 2008; for symbols as in DiffTrace). It runs inside the traced program: no
 * allocation, locks or system calls, and only memory functions of libc. One thread writes a trace.
 *
 * Three rules:
 *  1. The same symbol again makes its count grow.
 *  2. When the last elements are the body of the loop before them, that loop's count grows instead.
 *  3. When the last n elements (at most max_body, fewest first) are the n before them, they are a
 *     loop with count 2 instead.
 * 2 and 3 wait until an element cannot grow, so a body has whole runs: "a b a b b" is no loop of
 * "a b" and then b.
 *
 * While the program does what the loop at the end predicts, an event costs one comparison and a
 * store. Else the part of the iteration becomes elements, in proportion to the loop's elements. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace/trace_format.h"

/* Where an open loop is: in an iteration of a body, at an element of it. */
struct trace_level {
	const struct trace_element *begin, *at, *end;
	uint32_t symbol;
	uint32_t count; /* iterations that will be */
	uint32_t left;  /* of those, with the present one */
};

struct trace_body_info {
	uint32_t start; /* the first event of an iteration */
	uint32_t depth; /* loops in loops, from 1 */
};

/* Of an element of the sequence. Earlier ones with the same hash are position + 1; 0: none. */
struct trace_link {
	uint32_t same; /* of the element and the one before it */
	uint32_t tail; /* of a loop: of the last two elements of its body */
	uint64_t sum;  /* Rabin-Karp hash of all up to this one: any row's is in two of them */
};

struct trace_writer {
	uint32_t expected; /* symbol that goes on with the open one, or TRACE_NONE */
	uint32_t run_left; /* so many of these follow */
	uint64_t events;
	struct trace_head *head;
	struct trace_level levels[TRACE_MAX_DEPTH]; /* of the open loop */
	uint32_t num_levels;                        /* 0: a single symbol is open, or nothing */

	uint32_t open, open_count; /* the count as of when it was opened */
	uint32_t num_closed, stable;
	uint32_t num_bodies, num_elements;
	uint64_t closed_events;
	uint32_t max_body, max_count;
	bool is_busy, has_ended;

	/* In the arena. */
	struct trace_element *sequence, *elements;
	struct trace_body *bodies;
	uint64_t ready[TRACE_NUM_TABLES]; /* entries that have memory */
	bool (*reserve)(void *owner, size_t begin, size_t end);
	void *owner;

	/* In private memory. */
	struct trace_link *links; /* [TRACE_WINDOW] of position % TRACE_WINDOW */
	uint64_t *powers;         /* [TRACE_MAX_BODY + 1] of the sums' factor */
	uint32_t *same, *tails;   /* heads of the chains of links */
	struct trace_body_info *infos;
	uint32_t *slots; /* body + 1, by the hash of its elements; 0: none */
	uint32_t slot_mask;
};

struct trace_writer_settings {
	uint32_t max_body;  /* 2 to TRACE_MAX_BODY; 0: 128 */
	uint32_t max_count; /* of an element, at least 2; 0: all that a field holds */
	/* Called before bytes [begin, end) of the arena are first used, many at a time; false: no
	 * memory, the trace is full. NULL: it is all there. */
	bool (*reserve)(void *owner, size_t begin, size_t end);
	void *owner;
};

/* Bytes of private memory for an arena of so many bytes. */
size_t trace_writer_private_size(size_t arena_size);

/* Begin a trace in an arena of TRACE_ARENA_MIN bytes to 4 GiB and private memory, both zeroed and
 * aligned to 8 bytes. False: too small, or no memory. */
bool trace_writer_init(struct trace_writer *w, void *arena, size_t arena_size, void *private_memory,
		       const struct trace_writer_settings *settings);

/* Take no more events, for this reason. May be called at any time, also within an event. */
void trace_writer_end(struct trace_writer *w, enum trace_end end);

void trace_writer_advance(struct trace_writer *w);
void trace_writer_other(struct trace_writer *w, uint32_t symbol);

/* One event; symbol < TRACE_LOOP. */
static inline void trace_writer_feed(struct trace_writer *w, uint32_t symbol)
{
	if (__builtin_expect(symbol != w->expected, 0)) {
		trace_writer_other(w, symbol);
		return;
	}
	atomic_store_explicit(&w->head->events, ++w->events, memory_order_relaxed);
	if (--w->run_left == 0)
		trace_writer_advance(w);
}
