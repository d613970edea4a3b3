/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/traces/trace_similarity.h"

struct trace_similarity *trace_similarity_create(struct arena *arena, const struct trace_set *set,
						 unsigned int kinds,
						 enum attribute_frequency frequency)
{
	struct trace_similarity *similarity = arena_alloc(arena, sizeof(*similarity));
	struct trace_attributes *a = trace_attributes_create(arena, set, kinds, frequency);

	similarity->attributes = a;
	similarity->context = formal_context_create(
		arena, (uint32_t)a->num_traces, (uint32_t)a->num_attributes, a->numbers, a->ends);
	similarity->values = formal_context_similarity(arena, similarity->context);
	return similarity;
}

double trace_similarity_of(const struct trace_similarity *similarity, size_t a, size_t b)
{
	const struct formal_context *of = similarity->context;

	return similarity->values[(size_t)of->row_of[a] * of->num_rows + of->row_of[b]];
}

static void number_leaves(struct arena *arena, struct trace_clusters *clusters,
			  const struct formal_context *context, const uint32_t *traces)
{
	/* + 1; 0: none yet */
	uint32_t *leaf_of = arena_array(arena, context->num_rows, sizeof(*leaf_of));

	for (size_t i = 0; i < clusters->num; i++) {
		uint32_t row = context->row_of[traces[i]];

		if (!leaf_of[row]) {
			clusters->rows[clusters->num_leaves] = row;
			leaf_of[row] = ++clusters->num_leaves;
		}
		clusters->leaves[i] = leaf_of[row] - 1;
		clusters->weights[clusters->leaves[i]]++;
	}
}

/* The leaves below the last merge, from left to right. */
static void order_leaves(struct arena *arena, struct trace_clusters *clusters)
{
	const struct clustering *c = clusters->clustering;
	uint32_t *stack = arena_array(arena, 2 * (size_t)c->num_leaves, sizeof(*stack));
	size_t depth = 0, num = 0;

	stack[depth++] = c->num_leaves + c->num_merges - 1;
	while (depth > 0) {
		uint32_t node = stack[--depth];

		if (node < c->num_leaves) {
			clusters->order[num++] = node;
			continue;
		}
		stack[depth++] = c->merges[node - c->num_leaves].b;
		stack[depth++] = c->merges[node - c->num_leaves].a;
	}
}

struct trace_clusters *trace_clusters_create(struct arena *arena,
					     const struct trace_similarity *similarity,
					     const uint32_t *traces, size_t num,
					     enum linkage linkage)
{
	struct trace_clusters *clusters = arena_alloc(arena, sizeof(*clusters));
	const struct formal_context *context = similarity->context;
	uint32_t *rows = arena_array(arena, num, sizeof(*rows));
	double *distances;
	size_t num_leaves;

	clusters->num = num;
	clusters->leaves = arena_array(arena, num, sizeof(*clusters->leaves));
	clusters->rows = rows;
	clusters->weights = arena_array(arena, num, sizeof(*clusters->weights));
	clusters->order = arena_array(arena, num, sizeof(*clusters->order));
	number_leaves(arena, clusters, context, traces);
	num_leaves = clusters->num_leaves;
	distances = arena_array(arena, num_leaves * num_leaves, sizeof(*distances));
	for (size_t i = 0; i < num_leaves; i++)
		for (size_t j = 0; j < num_leaves; j++)
			distances[i * num_leaves + j] =
				1 -
				similarity->values[(size_t)rows[i] * context->num_rows + rows[j]];
	clusters->clustering = clustering_create(arena, clusters->num_leaves, distances,
						 clusters->weights, linkage);
	order_leaves(arena, clusters);
	return clusters;
}
