/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "analysis/traces/clustering.h"
#include "model/arena.h"
#include "model/sorted.h"

/* Clusters keep the place of one of their leaves until the end. */
struct building {
	uint32_t num;
	double *distances; /* [num * num] of the clusters at these places */
	double *sizes;     /* [num] 0: there is none any more */
	enum linkage linkage;
	struct merge *merges; /* of places */
	uint32_t num_merges;
};

/* Lance and Williams: the distance of k to the union of i and j. */
static double distance_to_union(const struct building *b, uint32_t i, uint32_t j, uint32_t k)
{
	double ik = b->distances[(size_t)i * b->num + k];
	double jk = b->distances[(size_t)j * b->num + k];
	double ij = b->distances[(size_t)i * b->num + j];
	double ni = b->sizes[i], nj = b->sizes[j], nk = b->sizes[k], square;

	switch (b->linkage) {
	case LINKAGE_SINGLE:
		return fmin(ik, jk);
	case LINKAGE_COMPLETE:
		return fmax(ik, jk);
	case LINKAGE_AVERAGE:
		return (ni * ik + nj * jk) / (ni + nj);
	case LINKAGE_WARD:
		break;
	}
	square = ((ni + nk) * ik * ik + (nj + nk) * jk * jk - nk * ij * ij) / (ni + nj + nk);
	return sqrt(fmax(square, 0));
}

static void merge(struct building *b, uint32_t i, uint32_t j)
{
	b->merges[b->num_merges++] = (struct merge){
		.a = i < j ? i : j,
		.b = i < j ? j : i,
		.height = b->distances[(size_t)i * b->num + j],
	};
	for (uint32_t k = 0; k < b->num; k++) {
		double distance;

		if (k == i || k == j || b->sizes[k] == 0)
			continue;
		distance = distance_to_union(b, i, j, k);
		b->distances[(size_t)i * b->num + k] = distance;
		b->distances[(size_t)k * b->num + i] = distance;
	}
	b->sizes[i] += b->sizes[j];
	b->sizes[j] = 0;
}

/* The nearest cluster, `preferred` among equals, else the first. */
static uint32_t nearest(const struct building *b, uint32_t to, uint32_t preferred)
{
	const double *row = &b->distances[(size_t)to * b->num];
	uint32_t best = preferred;

	for (uint32_t k = 0; k < b->num; k++)
		if (k != to && b->sizes[k] > 0 && (best == UINT32_MAX || row[k] < row[best]))
			best = k;
	return best;
}

/* Follow nearest neighbours to two that are each other's; these linkages may merge them at once. */
static void merge_all(struct arena *arena, struct building *b)
{
	uint32_t *chain = arena_array(arena, b->num, sizeof(*chain)), length = 0, first = 0;

	while (b->num_merges + 1 < b->num) {
		uint32_t at, next;

		if (length == 0) {
			while (b->sizes[first] == 0)
				first++;
			chain[length++] = first;
		}
		at = chain[length - 1];
		next = nearest(b, at, length > 1 ? chain[length - 2] : UINT32_MAX);
		if (length > 1 && next == chain[length - 2]) {
			length -= 2;
			merge(b, at < next ? at : next, at < next ? next : at);
		} else {
			chain[length++] = next;
		}
	}
}

SORTED_BY(compare_merges, struct merge, height, a, b)

static uint32_t find(uint32_t *up, uint32_t at)
{
	while (up[at] != at)
		at = up[at] = up[up[at]];
	return at;
}

/* Merges by height, with the numbers of what they merge. */
static void number_merges(struct arena *arena, struct clustering *clustering,
			  const uint32_t *weights)
{
	uint32_t num = clustering->num_leaves;
	uint32_t *up = arena_array(arena, num, sizeof(*up));
	uint32_t *number = arena_array(arena, num, sizeof(*number));
	uint32_t *size = arena_array(arena, num, sizeof(*size));

	qsort(clustering->merges, clustering->num_merges, sizeof(*clustering->merges),
	      compare_merges);
	for (uint32_t i = 0; i < num; i++) {
		up[i] = number[i] = i;
		size[i] = weights ? weights[i] : 1;
	}
	for (uint32_t m = 0; m < clustering->num_merges; m++) {
		struct merge *merged = &clustering->merges[m];
		uint32_t a = find(up, merged->a), b = find(up, merged->b);

		merged->a = number[a] < number[b] ? number[a] : number[b];
		merged->b = number[a] < number[b] ? number[b] : number[a];
		up[b] = a;
		size[a] += size[b];
		number[a] = num + m;
		merged->size = size[a];
	}
}

struct clustering *clustering_create(struct arena *arena, uint32_t num, const double *distances,
				     const uint32_t *weights, enum linkage linkage)
{
	struct clustering *clustering = arena_alloc(arena, sizeof(*clustering));
	struct building b = {.num = num, .linkage = linkage};

	b.merges = arena_array(arena, num, sizeof(*b.merges));
	b.distances = arena_array(arena, (size_t)num * num, sizeof(*b.distances));
	memcpy(b.distances, distances, (size_t)num * num * sizeof(*distances));
	b.sizes = arena_array(arena, num, sizeof(*b.sizes));
	for (uint32_t i = 0; i < num; i++)
		b.sizes[i] = weights ? weights[i] : 1;
	/* Ward's distances of unions take in how many they are; of leaves with weights as well. */
	for (size_t i = 0; linkage == LINKAGE_WARD && i < num; i++)
		for (size_t j = 0; j < num; j++)
			b.distances[i * num + j] *=
				sqrt(2 * b.sizes[i] * b.sizes[j] / (b.sizes[i] + b.sizes[j]));
	merge_all(arena, &b);
	clustering->num_leaves = num;
	clustering->merges = b.merges;
	clustering->num_merges = b.num_merges;
	number_merges(arena, clustering, weights);
	return clustering;
}

void clustering_cut(struct arena *arena, const struct clustering *clustering, uint32_t num_clusters,
		    uint32_t *labels)
{
	uint32_t num = clustering->num_leaves, num_labels = 0;
	/* Of each cluster its union, as long as that is merged. */
	uint32_t *up = arena_array(arena, 2 * (size_t)num, sizeof(*up));
	uint32_t *number = arena_array(arena, 2 * (size_t)num, sizeof(*number));

	for (uint32_t c = 0; c < 2 * num; c++)
		up[c] = c;
	for (uint32_t m = 0; m + num_clusters < num; m++)
		up[clustering->merges[m].a] = up[clustering->merges[m].b] = num + m;
	for (uint32_t leaf = 0; leaf < num; leaf++) {
		uint32_t top = find(up, leaf);

		if (!number[top])
			number[top] = ++num_labels;
		labels[leaf] = number[top] - 1;
	}
}

/* Twice the pairs of objects that are in one cluster. */
static double pairs_within(struct arena *arena, uint32_t num, const uint32_t *labels)
{
	uint32_t *sizes = arena_array(arena, num, sizeof(*sizes));
	double pairs = -(double)num;

	for (uint32_t o = 0; o < num; o++)
		sizes[labels[o]]++;
	for (uint32_t c = 0; c < num; c++)
		pairs += (double)sizes[c] * sizes[c];
	return pairs;
}

/* Those that are in one cluster of both: objects cluster by cluster of a, counted by that of b. */
static double pairs_of_both(struct arena *arena, uint32_t num, const uint32_t *a, const uint32_t *b)
{
	uint32_t *begin = arena_array(arena, num + 2, sizeof(*begin));
	uint32_t *order = arena_array(arena, num, sizeof(*order));
	uint32_t *counts = arena_array(arena, num, sizeof(*counts));
	double pairs = -(double)num;

	for (uint32_t o = 0; o < num; o++)
		begin[a[o] + 2]++;
	for (uint32_t c = 2; c < num + 2; c++)
		begin[c] += begin[c - 1];
	for (uint32_t o = 0; o < num; o++)
		order[begin[a[o] + 1]++] = o;
	for (uint32_t c = 0; c < num; c++) {
		for (uint32_t i = begin[c]; i < begin[c + 1]; i++)
			counts[b[order[i]]]++;
		for (uint32_t i = begin[c]; i < begin[c + 1]; i++) {
			double count = counts[b[order[i]]];

			counts[b[order[i]]] = 0;
			pairs += count * count;
		}
	}
	return pairs;
}

/* B of two partitions of `num` objects by labels below num. */
static double bscore(struct arena *arena, uint32_t num, const uint32_t *labels_a,
		     const uint32_t *labels_b)
{
	double both = pairs_of_both(arena, num, labels_a, labels_b);
	double a = pairs_within(arena, num, labels_a), b = pairs_within(arena, num, labels_b);

	/* Every object alone, in both or in one. */
	if (a == 0 || b == 0)
		return a == b;
	return both / sqrt(a * b);
}

/* The clusters of the objects, when it is cut into so many. */
static uint32_t *label(struct arena *arena, const struct clustering *clustering, uint32_t clusters,
		       const uint32_t *leaves, uint32_t num)
{
	uint32_t *cut = arena_array(arena, clustering->num_leaves, sizeof(*cut));
	uint32_t *labels = arena_array(arena, num, sizeof(*labels));

	clustering_cut(arena, clustering, clusters, cut);
	for (uint32_t o = 0; o < num; o++)
		labels[o] = cut[leaves[o]];
	return labels;
}

double clustering_compare(const struct clustering *a, const uint32_t *leaves_a,
			  const struct clustering *b, const uint32_t *leaves_b,
			  uint32_t num_objects)
{
	uint32_t most = a->num_leaves < b->num_leaves ? a->num_leaves : b->num_leaves;
	uint32_t least = most > 1 ? 2 : most;
	double sum = 0;

	for (uint32_t k = least; k <= most; k++) {
		struct arena *scratch SCOPED(arena) = arena_create();

		sum += bscore(scratch, num_objects, label(scratch, a, k, leaves_a, num_objects),
			      label(scratch, b, k, leaves_b, num_objects));
	}
	return most == 0 ? 1 : sum / (most - least + 1);
}
