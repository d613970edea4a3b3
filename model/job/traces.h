/* SPDX-License-Identifier: BSD-3-Clause
 * The traces of a job's threads. A symbol means the same in all of them. */
#pragma once

#include "model/base.h"
#include "model/segment/segment.h"
#include "model/trace/trace.h"

/* What happened: a symbol of the job's traces; a single trace's are rank-local. */
struct traces_symbol {
	enum seg_trace_kind kind;
	uint32_t path; /* of a call its path, of a function one frame, its entry; CALLPATH_NONE */
	const char *name;        /* of a call: "MPI_Send"; of a function NULL: ask job->names */
	enum seg_class class_id; /* of a call */
};

/* The trace of a thread. */
struct traces_lane {
	int rank;
	int lane; /* index in the rank's model; lane 0 is mostly the main thread */
	bool is_main;
	const struct trace *trace; /* NULL: none, see `note` */
	const char *note;          /* why there is none although one was recorded; or NULL */
	/* [num_local] the trace's symbol -> traces.symbols; TRACE_NONE: does not occur. Shared. */
	const uint32_t *symbols;
	uint32_t num_local;
};

struct traces {
	struct traces_lane *lanes; /* by rank, then lane; those with a trace or a note */
	size_t num_lanes;
	struct traces_symbol *symbols;
	size_t num_symbols, symbols_capacity;
	struct arena *arena; /* of all this */
};

/* Of the job's models; empty (never NULL) where nothing was traced. Borrows from the job until its
 * next look. */
struct traces *traces_create(const struct job *job);
void traces_destroy(struct traces *traces); /* NULL is fine */

/* The lane of a rank's main thread or, without one, its first; NULL: the rank has none. */
const struct traces_lane *traces_find(const struct traces *traces, int rank);
/* That lane of the rank. */
const struct traces_lane *traces_find_lane(const struct traces *traces, int rank, int lane);

/* A symbol as text: "MPI_Send", "solve", "solve returns". The caller frees. */
char *traces_symbol_text(const struct job *job, const struct traces_symbol *symbol);
