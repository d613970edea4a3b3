/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/job/callpath.h"
#include "tests/unit/unit.h"

/* The tree of most tests:   root(0) - a(1) - b(2) - d(4)
 *                                          \ c(3)
 *                           other(5)                        */
static struct callpaths *make_tree(void)
{
	struct callpaths *paths = callpaths_create();
	uint32_t root = callpaths_intern(paths, CALLPATH_NONE, 0, 0x10, true);
	uint32_t a = callpaths_intern(paths, root, 0, 0x20, true);
	uint32_t b = callpaths_intern(paths, a, 1, 0x30, true);

	callpaths_intern(paths, a, 1, 0x40, true);
	callpaths_intern(paths, b, 1, 0x50, false);
	callpaths_intern(paths, CALLPATH_NONE, 0, 0x60, true);
	return paths;
}

static void test_intern(void **state)
{
	struct callpaths *paths = make_tree();

	(void)state;
	assert_int_equal(callpaths_count(paths), 6);
	assert_int_equal(callpaths_intern(paths, 1, 1, 0x30, true), 2);
	assert_int_equal(callpaths_count(paths), 6);
	/* Each of the four parts makes a node of its own. */
	assert_int_equal(callpaths_intern(paths, 1, 1, 0x30, false), 6);
	assert_int_equal(callpaths_intern(paths, 1, 2, 0x30, true), 7);
	assert_int_equal(callpaths_intern(paths, 0, 1, 0x30, true), 8);
	assert_int_equal(callpaths_intern(paths, 1, 1, 0x31, true), 9);
	assert_int_equal(callpaths_get(paths, 4)->depth, 3);
	assert_int_equal(callpaths_get(paths, 4)->parent, 2);
	assert_int_equal(callpaths_get(paths, 4)->offset, 0x50);
	assert_false(callpaths_get(paths, 4)->is_return);
	callpaths_destroy(paths);
	callpaths_destroy(NULL);
}

static void test_many(void **state)
{
	struct callpaths *paths = callpaths_create();

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 50000; i++) {
			uint32_t parent = i ? (i - 1) / 2 : CALLPATH_NONE;

			assert_int_equal(callpaths_intern(paths, parent, i % 7, i * 16, true), i);
		}
	}
	assert_int_equal(callpaths_count(paths), 50000);
	callpaths_destroy(paths);
}

static void test_relations(void **state)
{
	static const struct {
		uint32_t a, b, common;
		bool has_prefix; /* b is a prefix of a */
	} table[] = {
		{4, 3, 1, false},
		{3, 4, 1, false},
		{4, 2, 2, true},
		{2, 4, 2, false},
		{0, 4, 0, false},
		{4, 0, 0, true},
		{4, 4, 4, true},
		{4, 5, CALLPATH_NONE, false},
		{CALLPATH_NONE, 4, CALLPATH_NONE, false},
		{4, CALLPATH_NONE, CALLPATH_NONE, true},
		{CALLPATH_NONE, CALLPATH_NONE, CALLPATH_NONE, true},
	};
	struct callpaths *paths = make_tree();

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		assert_int_equal(callpaths_common(paths, table[i].a, table[i].b), table[i].common);
		assert_int_equal(callpaths_has_prefix(paths, table[i].a, table[i].b),
				 table[i].has_prefix);
	}
	callpaths_destroy(paths);
}

static void test_at_depth(void **state)
{
	struct callpaths *paths = make_tree();

	(void)state;
	assert_int_equal(callpaths_at_depth(paths, 4, 0), 0);
	assert_int_equal(callpaths_at_depth(paths, 4, 2), 2);
	assert_int_equal(callpaths_at_depth(paths, 4, 3), 4);
	assert_int_equal(callpaths_at_depth(paths, 4, 99), 4);
	assert_int_equal(callpaths_at_depth(paths, CALLPATH_NONE, 0), CALLPATH_NONE);
	callpaths_destroy(paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intern),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_relations),
		cmocka_unit_test(test_at_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
