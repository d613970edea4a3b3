/* SPDX-License-Identifier: BSD-3-Clause
 * Attributes of traces, to compare them (DiffTrace): single entries, pairs of events that followed
 * each other, and loop bodies, each with its frequency or without, and how the trace ended. They
 * are counted on the loops, so a loop costs as much as its body. */
#ifndef PDB_ANALYSIS_TRACE_ATTRIBUTES_H
#define PDB_ANALYSIS_TRACE_ATTRIBUTES_H

#include "analysis/traces/trace_set.h"

enum attribute_kind {
	ATTRIBUTE_ENTRY = 1, /* symbol */
	ATTRIBUTE_PAIR = 2,  /* symbol, and the next one */
	ATTRIBUTE_LOOP = 4,  /* symbol is the loop's */
	ATTRIBUTE_END = 8,   /* symbol is the last event's, once */
};

enum attribute_frequency {
	FREQUENCY_NONE,
	FREQUENCY_ACTUAL, /* times; of a loop all its iterations */
	FREQUENCY_LOG10,  /* its decimal logarithm, rounded down */
};

/* Two of them are the same if all of this is. */
struct trace_attribute {
	enum attribute_kind kind;
	uint32_t symbol, next; /* in the set; `next` of a pair, else 0 */
	uint64_t frequency;    /* or 0: FREQUENCY_NONE, or log10(frequency) in place of it */
};

struct trace_attributes {
	struct trace_attribute *attributes; /* by kind, symbol, next, frequency */
	size_t num_attributes;
	/* Of trace t those in numbers[ends[t - 1]] to numbers[ends[t]], ascending; ends[-1]: 0. */
	uint32_t *numbers;
	size_t *ends; /* [num_traces] */
	size_t num_traces;
};

/* `kinds` of enum attribute_kind, together. It lives in the arena. */
struct trace_attributes *trace_attributes_create(struct arena *arena, const struct trace_set *set,
						 unsigned int kinds,
						 enum attribute_frequency frequency);

#endif
