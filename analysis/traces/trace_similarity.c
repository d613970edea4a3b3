/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/traces/trace_similarity.h"

#include <stdlib.h>
#include <string.h>

#include "model/xalloc.h"

struct trace_similarity *trace_similarity_create(const struct trace_set *set, unsigned int kinds,
						 enum attribute_frequency frequency)
{
	struct trace_similarity *similarity = xcalloc(1, sizeof(*similarity));
	struct trace_attributes *a = trace_attributes_create(set, kinds, frequency);

	similarity->attributes = a;
	similarity->context = formal_context_create(
		(uint32_t)a->num_traces, (uint32_t)a->num_attributes, a->numbers, a->ends);
	similarity->values = formal_context_similarity(similarity->context);
	return similarity;
}

void trace_similarity_destroy(struct trace_similarity *similarity)
{
	if (!similarity)
		return;
	trace_attributes_destroy(similarity->attributes);
	formal_context_destroy(similarity->context);
	free(similarity->values);
	free(similarity);
}

double trace_similarity_of(const struct trace_similarity *similarity, size_t a, size_t b)
{
	const struct formal_context *context = similarity->context;

	return similarity
		->values[(size_t)context->row_of[a] * context->num_rows + context->row_of[b]];
}

/* ---- Clusters ---- */

static void number_leaves(struct trace_clusters *clusters, const struct formal_context *context,
			  const uint32_t *traces)
{
	uint32_t *leaf_of = xcalloc(context->num_rows + 1, sizeof(*leaf_of)); /* + 1; 0: none yet */

	for (size_t i = 0; i < clusters->num; i++) {
		uint32_t row = context->row_of[traces[i]];

		if (!leaf_of[row]) {
			clusters->rows[clusters->num_leaves] = row;
			leaf_of[row] = ++clusters->num_leaves;
		}
		clusters->leaves[i] = leaf_of[row] - 1;
		clusters->weights[clusters->leaves[i]]++;
	}
	free(leaf_of);
}

/* The leaves below the last merge, from left to right. */
static void order_leaves(struct trace_clusters *clusters)
{
	const struct clustering *c = clusters->clustering;
	uint32_t *stack = xcalloc(2 * (size_t)c->num_leaves + 1, sizeof(*stack));
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
	free(stack);
}

struct trace_clusters *trace_clusters_create(const struct trace_similarity *similarity,
					     const uint32_t *traces, size_t num,
					     enum linkage linkage)
{
	struct trace_clusters *clusters = xcalloc(1, sizeof(*clusters));
	const struct formal_context *context = similarity->context;
	double *distances;

	clusters->num = num;
	clusters->leaves = xcalloc(num, sizeof(*clusters->leaves));
	clusters->rows = xcalloc(num, sizeof(*clusters->rows));
	clusters->weights = xcalloc(num, sizeof(*clusters->weights));
	clusters->order = xcalloc(num, sizeof(*clusters->order));
	number_leaves(clusters, context, traces);
	distances =
		xcalloc((size_t)clusters->num_leaves * clusters->num_leaves, sizeof(*distances));
	for (size_t i = 0; i < clusters->num_leaves; i++)
		for (size_t j = 0; j < clusters->num_leaves; j++)
			distances[i * clusters->num_leaves + j] =
				1 -
				similarity->values[(size_t)clusters->rows[i] * context->num_rows +
						   clusters->rows[j]];
	clusters->clustering =
		clustering_create(clusters->num_leaves, distances, clusters->weights, linkage);
	free(distances);
	order_leaves(clusters);
	return clusters;
}

void trace_clusters_destroy(struct trace_clusters *clusters)
{
	if (!clusters)
		return;
	clustering_destroy(clusters->clustering);
	free(clusters->leaves);
	free(clusters->rows);
	free(clusters->weights);
	free(clusters->order);
	free(clusters);
}
