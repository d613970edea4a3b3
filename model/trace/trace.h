/* SPDX-License-Identifier: BSD-3-Clause
 * A trace: the whole sequence of what one thread did, with its loops. It is a checked copy of what
 * a trace_writer has made.
 *
 * As text "a [ b^2 c ]^3 b": an element is a symbol or a loop, with how often it was in a row. */
#pragma once

#include "model/base.h"
#include "model/trace/trace_format.h"

struct trace {
	struct trace_element *sequence;
	size_t num;
	struct trace_body *bodies; /* each refers to those before it only */
	size_t num_bodies;
	struct trace_element *elements; /* of the bodies */
	size_t num_elements;
	uint64_t num_events; /* of the sequence */
	uint64_t num_lost;   /* events after those: there was no room for them */
	bool is_truncated;   /* events are or will be lost */
	uint32_t num_shared; /* beside the first owner */
};

/* Copy `size` bytes at `offset` of a trace's arena. 0, or -1 and *err. */
typedef int (*trace_read_fn)(void *from, void *to, size_t size, uint64_t offset,
			     struct pdb_error *err);

/* A copy of a trace that may be being written, from an untrusted arena of at most `size` bytes,
 * with symbols below num_symbols. No table may have more than `budget` bytes: the arena may be
 * mostly a hole. What is under way becomes elements. NULL and *err: ERROR_FORMAT, no trace;
 * ERROR_VERSION; ERROR_TIMEOUT, it changed all the time (or its writer died); or what `read`
 * said. */
struct trace *trace_copy(trace_read_fn read, void *from, uint64_t size, uint64_t budget,
			 uint32_t num_symbols, struct pdb_error *err);
/* Each owner destroys it once. NULL is fine. */
void trace_destroy(struct trace *trace);
/* One more owner. Returns the trace, which may be NULL. */
struct trace *trace_share(struct trace *trace);

/* Is that a trace: symbols, indexes, counts, depth, lengths, number of events? -1 and *err. */
int trace_validate(const struct trace *trace, uint32_t num_symbols, struct pdb_error *err);

/* Append what so many events of an open symbol are: whole iterations and, of a loop, the part of
 * one more. The bodies and the symbol have been checked. -1 and *err: too many. */
int trace_add_open(struct trace *trace, uint32_t symbol, uint64_t events, struct pdb_error *err);

/* The elements of a loop's body. Borrowed. */
const struct trace_element *trace_body_of(const struct trace *trace, uint32_t loop,
					  uint32_t *num_ret);

/* Append to *b as bytes. And back, from untrusted ones that must be used up: NULL and *err if they
 * are no trace of symbols below num_symbols. */
void trace_encode(const struct trace *trace, struct buffer *b);
struct trace *trace_decode(const uint8_t *bytes, size_t size, uint32_t num_symbols,
			   struct pdb_error *err);

/* Goes over the events. */
struct trace_walk {
	const struct trace *trace;
	struct {
		const struct trace_element *begin, *at, *end;
		uint32_t left; /* iterations, with the present one */
	} levels[TRACE_MAX_DEPTH + 1];
	uint32_t num_levels;
};

void trace_walk_init(struct trace_walk *walk, const struct trace *trace);
/* The next symbol and how often it comes in a row here; false at the end. */
bool trace_walk_next(struct trace_walk *walk, uint32_t *symbol_ret, uint32_t *count_ret);
