/* SPDX-License-Identifier: BSD-3-Clause
 * The parts of a share: which ranks have which item, and items that are there once. */
#include <stdlib.h>
#include <string.h>

#include "model/hash.h"
#include "model/wire/share_private.h"
#include "tests/unit/share_sample.h"

/* ---- Runs ---- */

enum { NUM_IN_RUNS = 6 };

static void add_to_runs(struct share_place *place, const int *items, int first, int last)
{
	for (int rank = first; rank <= last; rank++) {
		struct share_run run = {rank, rank, 0, 0};

		run.item = (uint32_t)items[rank];
		if (items[rank] >= 0)
			share_place_add_run(place, &run);
	}
}

static void assert_items(const struct share_place *place, const int *items)
{
	int found[NUM_IN_RUNS] = {-1, -1, -1, -1, -1, -1};

	for (size_t i = 0; i < place->num_runs; i++)
		for (int rank = place->runs[i].first; rank <= place->runs[i].last; rank++)
			found[rank] = (int)share_run_item(&place->runs[i], rank);
	assert_memory_equal(found, items, sizeof(found));
}

/* Items of ranks 0, 1, ... (-1: none), and how many runs they make one by one. */
static void test_runs(void **state)
{
	static const struct {
		int items[NUM_IN_RUNS];
		size_t num_runs;
	} table[] = {
		{{4, 4, 4, 4, 4, 4}, 1},   {{4, 5, 6, 7, 8, 9}, 1}, {{4, 4, 5, 6, 6, 6}, 3},
		{{4, 4, -1, 4, -1, 5}, 3}, {{5, 4, 3, 3, 2, 0}, 5}, {{-1, 0, 1, 0, 1, 2}, 2},
		{{7, 7, 7, 8, 8, 8}, 2},   {{0, 1, 2, 2, 3, 4}, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct share_place one = {0}, low = {0}, high = {0};

		add_to_runs(&one, table[i].items, 0, NUM_IN_RUNS - 1);
		assert_int_equal(one.num_runs, table[i].num_runs);
		assert_items(&one, table[i].items);
		add_to_runs(&low, table[i].items, 0, 2);
		add_to_runs(&high, table[i].items, 3, NUM_IN_RUNS - 1);
		for (size_t n = 0; n < high.num_runs; n++)
			share_place_add_run(&low, &high.runs[n]);
		assert_in_range(low.num_runs, table[i].num_runs, table[i].num_runs + 1);
		assert_items(&low, table[i].items);
		free(one.runs);
		free(low.runs);
		free(high.runs);
	}
}

/* What may not be in a share although it is well-formed. */
static void test_refused_runs(void **state)
{
	static const struct {
		int place, first, last;
		uint32_t item, step;
		bool is_good;
	} table[] = {
		{1, 0, 3, 0, 0, true},  {1, 0, 2, 0, 1, true},  {1, 0, 3, 0, 1, false},
		{1, 2, 3, 2, 1, false}, {1, 1, 2, 3, 0, false}, {1, 0, 4, 0, 0, false},
		{2, 1, 2, 0, 0, true},  {2, 0, 0, 0, 0, false}, {2, 2, 3, 0, 0, false},
		{3, 1, 1, 0, 0, false}, /* nobody is in place 2 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct share *share = share_create(), *again = NULL;
		struct share_column *column = &share->columns[SHARE_HOLES];
		struct share_run run = {table[i].first, table[i].last, table[i].item & 3,
					table[i].step & 1};
		struct pdb_error err = {0};
		struct buffer bytes;

		for (int item = 0; item < 3; item++)
			share_column_add_item(column, SHARE_HOLES, &item, sizeof(item));
		share_place_add_run(share_column_place(column, 0), &(struct share_run){0, 3, 0, 0});
		if (table[i].place > 1)
			share_place_add_run(share_column_place(column, 1),
					    &(struct share_run){1, 2, 0, 0});
		share_place_add_run(share_column_place(column, (size_t)table[i].place), &run);
		bytes = encode(share);
		assert_int_equal(share_decode(bytes.bytes, bytes.num, 5, &again, &err),
				 table[i].is_good ? 0 : -1);
		share_destroy(again);
		share_destroy(share);
		free(bytes.bytes);
	}
}

/* ---- Blobs ---- */

static void test_blobs(void **state)
{
	struct blobs blobs = {0};
	size_t size;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 1000; i++)
			assert_int_equal(blobs_intern(&blobs, &i, i % 2 ? 4 : 3), i);
		assert_int_equal(blobs_intern(&blobs, NULL, 0), 1000);
	}
	assert_int_equal(blobs.num, 1001);
	blobs_get(&blobs, 1000, &size);
	assert_int_equal(size, 0);
	assert_int_equal(*blobs_get(&blobs, 7, &size), 7);
	assert_int_equal(size, 4);
	blobs_deinit(&blobs);
	/* Those that nobody compares, in room made before. */
	blobs = (struct blobs){0};
	blobs_reserve(&blobs, 10, 40);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(blobs_add(&blobs, "same", 4), i);
	assert_memory_equal(blobs_get(&blobs, 999, &size), "same", 4);
	assert_int_equal(size, 4);
	/* ... until somebody does. */
	assert_int_equal(blobs_intern(&blobs, "other", 5), 1000);
	assert_int_equal(blobs_intern(&blobs, "same", 4), 0);
	assert_int_equal(blobs_intern(&blobs, "other", 5), 1000);
	blobs_deinit(&blobs);
	/* A byte more or less of the same is something else. */
	assert_true(hash_bytes("\0\0", 1) != hash_bytes("\0\0", 2));
	assert_true(hash_bytes("abcdefgh", 8) != hash_bytes("abcdefgi", 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_refused_runs),
		cmocka_unit_test(test_blobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
