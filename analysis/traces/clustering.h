/* SPDX-License-Identifier: BSD-3-Clause
 * Agglomerative hierarchical clustering by distances, and how much two clusterings agree. */
#ifndef PDB_ANALYSIS_CLUSTERING_H
#define PDB_ANALYSIS_CLUSTERING_H

#include "model/std.h"

struct arena;

/* The distance of two clusters. */
enum linkage {
	LINKAGE_SINGLE,   /* of their nearest members */
	LINKAGE_COMPLETE, /* of their farthest members */
	LINKAGE_AVERAGE,  /* the mean over all pairs of members (UPGMA) */
	LINKAGE_WARD,     /* by how much their union has a larger variance */
};

/* Clusters number 0 to num_leaves - 1 are the leaves; merge m makes number num_leaves + m. */
struct merge {
	uint32_t a, b; /* a < b */
	double height; /* their distance */
	uint32_t size; /* of the union: leaves, each with its weight */
};

struct clustering {
	uint32_t num_leaves;
	struct merge *merges; /* [num_leaves - 1] by height, ties always in the same order */
	uint32_t num_merges;
};

/* distances: [num * num], symmetric, not negative. weights: [num] how many objects of distance 0 a
 * leaf stands for, NULL: one each. O(num^2) by chains of nearest neighbours (Murtagh 1983) and the
 * Lance-Williams formulas. It lives in the arena. */
struct clustering *clustering_create(struct arena *arena, uint32_t num, const double *distances,
				     const uint32_t *weights, enum linkage linkage);

/* Cut it into num_clusters (1 to num_leaves): labels[leaf], numbered by first leaves. */
void clustering_cut(struct arena *arena, const struct clustering *clustering, uint32_t num_clusters,
		    uint32_t *labels);

/* The mean of B of Fowlkes and Mallows ("A Method for Comparing Two Hierarchical Clusterings", JASA
 * 1983) over all cuts of both into the same number of clusters, from 2 on to the fewer leaves; with
 * 1 leaf on a side, of the two cuts into 1. 1: the same, near 0: nothing in common. Object o is
 * leaf leaves_a[o] of one and leaves_b[o] of the other. */
double clustering_compare(const struct clustering *a, const uint32_t *leaves_a,
			  const struct clustering *b, const uint32_t *leaves_b,
			  uint32_t num_objects);

#endif
