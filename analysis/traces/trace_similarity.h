/* SPDX-License-Identifier: BSD-3-Clause
 * How similar the traces of a set are by their attributes, and how they cluster. All of it lives in
 * the arena. */
#ifndef PDB_ANALYSIS_TRACE_SIMILARITY_H
#define PDB_ANALYSIS_TRACE_SIMILARITY_H

#include "analysis/traces/clustering.h"
#include "analysis/traces/formal_context.h"
#include "analysis/traces/trace_attributes.h"

struct trace_similarity {
	struct trace_attributes *attributes;
	struct formal_context *context; /* objects are the traces */
	double *values;                 /* [num_rows * num_rows] Jaccard */
};

struct trace_similarity *trace_similarity_create(struct arena *arena, const struct trace_set *set,
						 unsigned int kinds,
						 enum attribute_frequency frequency);

/* Of two traces. */
double trace_similarity_of(const struct trace_similarity *similarity, size_t a, size_t b);

/* Some of the traces, clustered by 1 - similarity. */
struct trace_clusters {
	struct clustering *clustering;
	uint32_t *leaves;  /* [num] of each of these traces: equal ones have the same */
	uint32_t *rows;    /* [num_leaves] of the context, in the order of their first traces */
	uint32_t *weights; /* [num_leaves] traces with that row */
	uint32_t *order;   /* [num_leaves] leaves so that what is clustered first is side by side */
	uint32_t num_leaves;
	size_t num;
};

/* num: at least 1. */
struct trace_clusters *trace_clusters_create(struct arena *arena,
					     const struct trace_similarity *similarity,
					     const uint32_t *traces, size_t num,
					     enum linkage linkage);

#endif
