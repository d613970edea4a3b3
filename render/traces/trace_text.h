/* SPDX-License-Identifier: BSD-3-Clause
 * The words of answers about traces: events, loops, threads, attributes. Texts live as long as the
 * arena; they hold names of other people's programs, so print them as label.h says. */
#ifndef PDB_RENDER_TRACE_TEXT_H
#define PDB_RENDER_TRACE_TEXT_H

#include <stdint.h>

#include "analysis/traces/clustering.h"
#include "analysis/traces/trace_attributes.h"
#include "analysis/traces/trace_runs.h"

struct arena;
struct view;

/* A symbol of the set, no loop, as it is in this run or else in the other one: "MPI_Send, halo()
 * solver.c:141", with as much of its place as the runs are compared by. */
const char *trace_text_event(struct arena *arena, const struct trace_runs *runs, uint32_t run,
			     uint32_t symbol);
/* An element in one line: the same, or a loop without places, of which some hundred characters:
 * "[ MPI_Isend^2 MPI_Waitall ]". */
const char *trace_text_symbol(struct arena *arena, const struct trace_runs *runs, uint32_t run,
			      uint32_t symbol);
/* One or two elements, "... then ...", with "412 times" or "100 to 999 times". */
const char *trace_text_attribute(struct arena *arena, const struct trace_runs *runs, uint32_t run,
				 const struct trace_attribute *attribute,
				 enum attribute_frequency frequency);
/* "3", or "3.1" of its second thread. */
const char *trace_text_thread(struct arena *arena, const struct trace_thread *thread);
/* What the traces have in common that have these flags: "4:[0-3]", threads after them as "2.1". At
 * most `width` columns. flags: [runs->num_threads]. */
const char *trace_text_threads(struct arena *arena, const struct trace_runs *runs,
			       const uint8_t *flags, int width);
/* The same whole, as "0-3,5.1". */
const char *trace_text_thread_list(struct arena *arena, const struct trace_runs *runs,
				   const uint8_t *flags);

/* The words that options have for them: "entries", "log10", "single". */
const char *trace_text_kind(enum attribute_kind kind);
const char *trace_text_frequency(enum attribute_frequency frequency);
const char *trace_text_linkage(enum linkage linkage);

/* Print which threads have no trace or not a whole one, and why. names: of the runs, or NULL. */
void trace_text_print_holes(const struct view *view, const struct trace_runs *runs,
			    const char *const *names);

#endif
