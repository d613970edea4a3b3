/* SPDX-License-Identifier: BSD-3-Clause
 * The trace of a lane (PDB_TRACE): model/trace/trace_writer.h in the lane's arena, and the symbols
 * of the program's functions. Only the lane's thread writes it. A signal handler that interrupts it
 * leaves its own events for later. */
#pragma once

#include "model/recorder/idhash.h"
#include "model/recorder/trace_filter.h"
#include "model/recorder/writer.h"
#include "model/segment/segment.h"
#include "model/trace/trace_writer.h"

enum {
	TRACER_FUNCTIONS = 6144, /* that are remembered; then all are forgotten */
	TRACER_POSTPONED = 32,
	TRACER_LANES = 64, /* so many threads have traces of their own */
};
/* In place of a function's frame. */
#define TRACER_SKIP (SEG_NO_FRAME - 1)    /* the filter is against it */
#define TRACER_UNKNOWN (SEG_NO_FRAME - 2) /* not asked for yet */

/* What is wanted, for the whole process. */
struct tracing {
	size_t size;       /* of an arena; 0: no traces */
	uint32_t max_body; /* 0: what trace_writer.h says */
	struct trace_filter filter;
	uint8_t *skipped; /* [SEG_MAX_SITES] the filter is against them; NULL: it is against none */
};

struct tracer {
	struct trace_writer writer;
	const struct tracing *tracing;
	struct writer *segment;
	const struct seg_lane *lane;
	uint32_t index; /* of the lane */
	bool is_made;   /* by tracer_create(), which holds the lock */
	volatile bool is_busy;
	volatile uint32_t num_postponed; /* may go beyond those that there is room for */
	uint32_t postponed[TRACER_POSTPONED];
	uint32_t num_functions;
	struct idhash by_address;
	struct tracer_function {
		uintptr_t address;
		uint32_t frame;
	} functions[TRACER_FUNCTIONS];
};

/* From PDB_TRACE and PDB_TRACE_FILTER (each may be NULL). A size that is too small for an arena,
 * such as 1, means SEG_DEFAULT_TRACE. False: there is no memory. */
bool tracing_init(struct tracing *tracing, const char *trace, const char *filter);

/* A site is new: is it traced? The recorder's lock is held. */
void tracing_add_site(struct tracing *tracing, uint32_t site, const char *name, uint16_t class_id);

/* The lane has an arena; the recorder's lock is held. NULL: there is no room or memory. */
struct tracer *tracer_create(const struct tracing *tracing, struct writer *w, struct seg_lane *lane,
			     uint32_t index);

static inline bool tracer_has_events(const struct tracer *t)
{
	return t->writer.events > 0;
}

/* One event. Site 0: another thread begins. */
void tracer_call(struct tracer *t, uint32_t site);
void tracer_symbol(struct tracer *t, uint32_t symbol);

/* The frame of a function, TRACER_SKIP or TRACER_UNKNOWN; and to remember it. */
uint32_t tracer_find_function(const struct tracer *t, uintptr_t address);
void tracer_add_function(struct tracer *t, uintptr_t address, uint32_t frame);
/* Code was unloaded. */
void tracer_forget_functions(struct tracer *t);
/* No more events: there is no room for what has to be in them. */
void tracer_end(struct tracer *t);
