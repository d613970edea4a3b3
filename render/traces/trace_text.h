/* SPDX-License-Identifier: BSD-3-Clause
 * Texts for answers about traces: events, loops, threads, attributes. Texts live as long as the
 * arena. They contain names from other people's programs, so print them as label.h says. */
#ifndef PDB_RENDER_TRACE_TEXT_H
#define PDB_RENDER_TRACE_TEXT_H

#include "analysis/traces/clustering.h"
#include "analysis/traces/trace_attributes.h"
#include "analysis/traces/trace_runs.h"

struct view;

/* A symbol that is no loop, as it appears in this run, else in the other one: "MPI_Send, halo()
 * solver.c:141". The place is as detailed as the comparison of the runs. */
const char *trace_text_event(struct arena *arena, const struct trace_runs *runs, uint32_t run,
			     uint32_t symbol);
/* An element in one line: an event as above, or a loop without places, cut after some hundred
 * characters: "[ MPI_Isend^2 MPI_Waitall ]". */
const char *trace_text_symbol(struct arena *arena, const struct trace_runs *runs, uint32_t run,
			      uint32_t symbol);
/* One or two elements, "... then ...", with "412 times" or "100 to 999 times". */
const char *trace_text_attribute(struct arena *arena, const struct trace_runs *runs, uint32_t run,
				 const struct trace_attribute *attribute,
				 enum attribute_frequency frequency);
/* A thread: "3" for the main thread of rank 3, "3.1" for its second thread. */
const char *trace_text_thread(struct arena *arena, const struct trace_thread *thread);
/* The threads whose flags are set, in at most `width` columns: "4:[0-3]" for main threads, others
 * after them as "2.1". flags: [runs->num_threads]. */
const char *trace_text_threads(struct arena *arena, const struct trace_runs *runs,
			       const uint8_t *flags, int width);
/* The same in full: "0-3,5.1". */
const char *trace_text_thread_list(struct arena *arena, const struct trace_runs *runs,
				   const uint8_t *flags);

/* The words of options for these values: "entries", "log10", "single". */
const char *trace_text_kind(enum attribute_kind kind);
const char *trace_text_frequency(enum attribute_frequency frequency);
const char *trace_text_linkage(enum linkage linkage);

/* Print which threads have no trace or an incomplete one, and why. names: of the runs, or NULL. */
void trace_text_print_holes(const struct view *view, const struct trace_runs *runs,
			    const char *const *names);

#endif
