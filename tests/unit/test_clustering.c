/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/with_arena.h"
#include "unit.h"

#include "analysis/traces/clustering.h"
#include "model/xalloc.h"
#include "tests/fixtures/trace_program.h"

/* ---- Points on a line ---- */

static const struct {
	enum linkage linkage;
	uint32_t num;
	double points[5];
	struct merge merges[4];
} lines[] = {
	{LINKAGE_SINGLE, 1, {3}, {{0}}},
	{LINKAGE_SINGLE, 4, {0, 1, 3, 7}, {{0, 1, 1, 2}, {2, 4, 2, 3}, {3, 5, 4, 4}}},
	{LINKAGE_COMPLETE, 4, {0, 1, 3, 7}, {{0, 1, 1, 2}, {2, 4, 3, 3}, {3, 5, 7, 4}}},
	{LINKAGE_AVERAGE, 4, {0, 1, 3, 7}, {{0, 1, 1, 2}, {2, 4, 2.5, 3}, {3, 5, 17.0 / 3, 4}}},
	/* sqrt(2 ab / (a + b)) times the distance of the means. */
	{LINKAGE_WARD,
	 4,
	 {0, 1, 3, 7},
	 {{0, 1, 1, 2}, {2, 4, 2.886751345948129, 3}, {3, 5, 6.940220937885672, 4}}},
	{LINKAGE_SINGLE,
	 5,
	 {5, 0, 5, 0, 9},
	 {{0, 2, 0, 2}, {1, 3, 0, 2}, {4, 5, 4, 3}, {6, 7, 5, 5}}},
};

static double *distances_of(const double *points, uint32_t num)
{
	double *distances = xcalloc((size_t)num * num + 1, sizeof(*distances));

	for (uint32_t i = 0; i < num; i++)
		for (uint32_t j = 0; j < num; j++)
			distances[i * num + j] = fabs(points[i] - points[j]);
	return distances;
}

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(lines); i++) {
		double *distances = distances_of(lines[i].points, lines[i].num);
		struct clustering *c =
			clustering_create(arena, lines[i].num, distances, NULL, lines[i].linkage);

		assert_int_equal(c->num_merges, lines[i].num - 1);
		for (uint32_t m = 0; m < c->num_merges; m++) {
			assert_int_equal(c->merges[m].a, lines[i].merges[m].a);
			assert_int_equal(c->merges[m].b, lines[i].merges[m].b);
			assert_int_equal(c->merges[m].size, lines[i].merges[m].size);
			assert_true(fabs(c->merges[m].height - lines[i].merges[m].height) < 1e-9);
		}
		free(distances);
	}
}

/* ---- Against the definitions ---- */

/* Of two clusters, from the distances of their members; of Ward from the points themselves. */
static double distance_of(enum linkage linkage, const double (*points)[3], const double *distances,
			  uint32_t num, const uint32_t *label, uint32_t a, uint32_t b)
{
	double least = INFINITY, most = 0, sum = 0, mean[2][3] = {{0}}, square = 0;
	double num_a = 0, num_b = 0;

	for (uint32_t i = 0; i < num; i++) {
		num_a += label[i] == a;
		num_b += label[i] == b;
		for (int d = 0; d < 3; d++) {
			mean[0][d] += label[i] == a ? points[i][d] : 0;
			mean[1][d] += label[i] == b ? points[i][d] : 0;
		}
		for (uint32_t j = 0; j < num && label[i] == a; j++) {
			if (label[j] != b)
				continue;
			least = fmin(least, distances[i * num + j]);
			most = fmax(most, distances[i * num + j]);
			sum += distances[i * num + j];
		}
	}
	for (int d = 0; d < 3; d++)
		square += pow(mean[0][d] / num_a - mean[1][d] / num_b, 2);
	switch (linkage) {
	case LINKAGE_SINGLE:
		return least;
	case LINKAGE_COMPLETE:
		return most;
	case LINKAGE_AVERAGE:
		return sum / (num_a * num_b);
	case LINKAGE_WARD:
		break;
	}
	return sqrt(2 * num_a * num_b / (num_a + num_b) * square);
}

/* Merge the nearest two, again and again; heights in order. */
static void merge_naively(enum linkage linkage, const double (*points)[3], const double *distances,
			  uint32_t num, uint32_t num_clusters, uint32_t *label, double *heights)
{
	for (uint32_t i = 0; i < num; i++)
		label[i] = i;
	for (uint32_t left = num; left > num_clusters; left--) {
		uint32_t best_a = 0, best_b = 0;
		double best = INFINITY;

		for (uint32_t a = 0; a < num; a++) {
			for (uint32_t b = 0; b < a; b++) {
				double distance;

				if (label[a] != a || label[b] != b)
					continue;
				distance =
					distance_of(linkage, points, distances, num, label, a, b);
				if (distance < best) {
					best = distance;
					best_a = a;
					best_b = b;
				}
			}
		}
		heights[num - left] = best;
		for (uint32_t i = 0; i < num; i++)
			label[i] = label[i] == best_a ? best_b : label[i];
	}
}

static void test_random_points(void **state)
{
	enum { NUM = 14 };
	uint64_t random = 6;

	(void)state;
	for (int round = 0; round < 60; round++) {
		enum linkage linkage = (enum linkage)(round % 4);
		double points[NUM][3], distances[NUM * NUM], heights[NUM];
		uint32_t naive[NUM], labels[NUM];
		struct clustering *c;

		for (int i = 0; i < NUM; i++)
			for (int d = 0; d < 3; d++)
				points[i][d] = trace_program_random(&random, 1 << 30);
		for (int i = 0; i < NUM; i++)
			for (int j = 0; j < NUM; j++)
				distances[i * NUM + j] = sqrt(pow(points[i][0] - points[j][0], 2) +
							      pow(points[i][1] - points[j][1], 2) +
							      pow(points[i][2] - points[j][2], 2));
		c = clustering_create(arena, NUM, distances, NULL, linkage);
		for (uint32_t k = 1; k <= NUM; k++) {
			merge_naively(linkage, (const double(*)[3])points, distances, NUM, k, naive,
				      heights);
			clustering_cut(arena, c, k, labels);
			for (int i = 0; i < NUM; i++)
				for (int j = 0; j < NUM; j++)
					assert_int_equal(labels[i] == labels[j],
							 naive[i] == naive[j]);
		}
		merge_naively(linkage, (const double(*)[3])points, distances, NUM, 1, naive,
			      heights);
		for (int m = 0; m < NUM - 1; m++)
			assert_true(fabs(c->merges[m].height - heights[m]) < 1e-6 * heights[m]);
	}
}

/* A leaf with weight 3 is three leaves in one place. */
static void test_weights(void **state)
{
	static const double points[] = {0, 2, 5, 11}, repeated[] = {0, 2, 2, 2, 5, 5, 11};
	static const uint32_t weights[] = {1, 3, 2, 1}, leaf[] = {0, 1, 1, 1, 2, 2, 3};

	(void)state;
	for (enum linkage linkage = LINKAGE_SINGLE; linkage <= LINKAGE_WARD; linkage++) {
		double *few = distances_of(points, 4), *many = distances_of(repeated, 7);
		struct clustering *a = clustering_create(arena, 4, few, weights, linkage);
		struct clustering *b = clustering_create(arena, 7, many, NULL, linkage);

		for (uint32_t m = 0; m < 3; m++) {
			assert_true(fabs(a->merges[m].height - b->merges[m + 3].height) < 1e-9);
			assert_int_equal(a->merges[m].size, b->merges[m + 3].size);
		}
		for (uint32_t k = 1; k <= 4; k++) {
			uint32_t labels_a[4], labels_b[7];

			clustering_cut(arena, a, k, labels_a);
			clustering_cut(arena, b, k, labels_b);
			for (int i = 0; i < 7; i++)
				assert_int_equal(labels_a[leaf[i]], labels_b[i]);
		}
		free(few);
		free(many);
	}
}

/* ---- B ---- */

/* Leaves of clusterings of so many, of which leaf 1 is nearest to leaf 0; B of the only cut. */
static const struct {
	uint32_t num, num_leaves_b, a[6], b[6];
	double score;
} partitions[] = {
	{4, 2, {0, 0, 1, 1}, {0, 0, 1, 1}, 1},
	{4, 2, {0, 0, 1, 1}, {1, 1, 0, 0}, 1},
	{4, 2, {0, 0, 1, 1}, {0, 1, 0, 1}, 0},
	{2, 2, {0, 1}, {1, 0}, 1},
	{2, 2, {0, 1}, {1, 1}, 0},
	/* One pair of both; 3 + 1 and 1 + 3 pairs of each: 1 / sqrt(4 * 4). */
	{5, 2, {0, 0, 0, 1, 1}, {0, 0, 1, 1, 1}, 0.5},
	/* 3 + 1 pairs of both; 3 + 3 and 6 + 1 pairs of each. */
	{6, 3, {0, 0, 0, 1, 1, 1}, {0, 0, 1, 1, 2, 2}, 0.6172133998483676},
};

static void test_bscore(void **state)
{
	static const double points[] = {0, 1, 10};
	double *two = distances_of(points, 2), *three = distances_of(points, 3);

	(void)state;
	for (size_t i = 0; i < NUM_OF(partitions); i++) {
		uint32_t num_b = partitions[i].num_leaves_b;
		struct clustering *a = clustering_create(arena, 2, two, NULL, LINKAGE_AVERAGE);
		struct clustering *b = clustering_create(arena, num_b, num_b == 2 ? two : three,
							 NULL, LINKAGE_AVERAGE);
		double score = clustering_compare(a, partitions[i].a, b, partitions[i].b,
						  partitions[i].num);

		if (fabs(score - partitions[i].score) > 1e-12)
			fail_msg("partition %zu: %g", i, score);
	}
	free(two);
	free(three);
}

static void test_compare(void **state)
{
	static const double good[] = {0, 1, 10, 11}, bad[] = {0, 10, 1, 11};
	static const uint32_t leaves[] = {0, 1, 2, 3}, swapped[] = {0, 2, 1, 3};
	double *distances = distances_of(good, 4), *others = distances_of(bad, 4), zero = 0;
	struct clustering *a = clustering_create(arena, 4, distances, NULL, LINKAGE_AVERAGE);
	struct clustering *b = clustering_create(arena, 4, others, NULL, LINKAGE_AVERAGE);
	struct clustering *one = clustering_create(arena, 1, &zero, NULL, LINKAGE_AVERAGE);

	(void)state;
	assert_true(clustering_compare(a, leaves, a, leaves, 4) == 1);
	assert_true(clustering_compare(a, leaves, b, swapped, 4) == 1);
	/* Cuts into 2, 3 and 4 clusters: 0, 0 and 1. */
	assert_true(fabs(clustering_compare(a, leaves, b, leaves, 4) - 1.0 / 3) < 1e-12);
	assert_true(clustering_compare(one, (const uint32_t[]){0, 0, 0, 0}, one,
				       (const uint32_t[]){0, 0, 0, 0}, 4) == 1);
	free(distances);
	free(others);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),   cmocka_unit_test(test_random_points),
		cmocka_unit_test(test_weights), cmocka_unit_test(test_bscore),
		cmocka_unit_test(test_compare),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
