/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "model/job/rankset.h"
#include "tests/unit/unit.h"

static struct rankset *decode(const char *text)
{
	struct pdb_error err = {0};
	struct rankset *set = NULL;

	if (!*text)
		return rankset_create();
	if (rankset_decode(text, -1, &set, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return set;
}

static void assert_set(const struct rankset *set, const char *expected)
{
	char *text = rankset_encode(set, 0);

	assert_string_equal(text, expected);
	free(text);
}

static void test_decode(void **state)
{
	static const struct {
		const char *text;
		int size;
		const char *expected;
		int count;
	} table[] = {
		{"0", 1, "0", 1},
		{"0,3-5", 6, "0,3-5", 4},
		{"5,3,4,0", 6, "0,3-5", 4},
		{"3-5,4-9", 10, "3-9", 7},
		{"7-7", 8, "7", 1},
		{"0-63:8", 64, "0,8,16,24,32,40,48,56", 8},
		{"1-4:9", 64, "1", 1},
		{"0-9:1", 10, "0-9", 10},
		{"0-99999", 100000, "0-99999", 100000},
		{"65534-65537", -1, "65534-65537", 4},
		{"2147483646", -1, "2147483646", 1},
		{"0007", 8, "7", 1},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct pdb_error err = {0};
		struct rankset *set = NULL;

		if (rankset_decode(table[i].text, table[i].size, &set, &err) < 0)
			fail_msg("%s: %s", table[i].text, err.text);
		assert_set(set, table[i].expected);
		assert_int_equal(rankset_count(set), table[i].count);
		rankset_destroy(set);
	}
}

static void test_decode_refused(void **state)
{
	static const struct {
		const char *text, *part;
	} table[] = {
		{"", "empty"},
		{",", "\"\""},
		{"1,", "\"\""},
		{"1,,2", "\"\""},
		{"a", "\"a\""},
		{"0,x1", "\"x1\""},
		{"-1", "\"-1\""},
		{"+1", "\"+1\""},
		{" 1", "\" 1\""},
		{"1 ", "\"1 \""},
		{"1-", "\"1-\""},
		{"1-2-3", "\"1-2-3\""},
		{"1-5:", "\"1-5:\""},
		{"1-5:0", "\"1-5:0\""},
		{"1-5:-1", "\"1-5:-1\""},
		{"1-5:2x", "\"1-5:2x\""},
		{"1:2", "\"1:2\""},
		{"0x10", "\"0x10\""},
		{"5-3", "backwards"},
		{"8", "no rank 8: the job has 8 ranks"},
		{"0,2-9", "no rank 9"},
		{"2147483647", "2147483647"},
		{"99999999999999999999999", "9999"},
		{"18446744073709551617", "18446744073709551617"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct pdb_error err = {0};
		struct rankset *untouched = (struct rankset *)&err, *set = untouched;

		if (rankset_decode(table[i].text, 8, &set, &err) == 0)
			fail_msg("\"%s\" was taken", table[i].text);
		assert_error(&err, ERROR_USAGE, table[i].part);
		assert_ptr_equal(set, untouched);
	}
}

static void test_encode_limited(void **state)
{
	static const struct {
		const char *text;
		int max_ranges;
		const char *expected;
	} table[] = {
		{"0-3,7", 0, "0-3,7"},
		{"0-3,7", 1, "0-3,..."},
		{"0-3,7", 2, "0-3,7"},
		{"0,2,4,6", 3, "0,2,4,..."},
		{"1-2", 1, "1-2"},
		{"", 1, ""},
		{"3-4,6-70000,70002", 0, "3-4,6-70000,70002"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct rankset *set = decode(table[i].text);
		char *text = rankset_encode(set, table[i].max_ranges);

		assert_string_equal(text, table[i].expected);
		free(text);
		rankset_destroy(set);
	}
}

static void test_algebra(void **state)
{
	static const struct {
		const char *a, *b, *both, *common, *difference;
	} table[] = {
		{"0-3", "2-5", "0-5", "2-3", "0-1"},
		{"0-3", "9", "0-3,9", "", "0-3"},
		{"", "1", "1", "", ""},
		{"1", "", "1", "", "1"},
		{"0-199999", "3,100000", "0-199999", "3,100000", "0-2,4-99999,100001-199999"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct rankset *a = decode(table[i].a), *b = decode(table[i].b);
		struct rankset *both = rankset_copy(a), *common = rankset_copy(a);
		struct rankset *difference = rankset_copy(a);

		rankset_add_set(both, b);
		rankset_keep_set(common, b);
		rankset_remove_set(difference, b);
		assert_set(both, table[i].both);
		assert_set(common, table[i].common);
		assert_set(difference, table[i].difference);
		assert_set(a, table[i].a);
		rankset_add_set(difference, common);
		assert_true(rankset_equal(difference, a));
		rankset_destroy(a);
		rankset_destroy(b);
		rankset_destroy(both);
		rankset_destroy(common);
		rankset_destroy(difference);
	}
}

static void test_with_itself(void **state)
{
	struct rankset *set = decode("1-3");

	(void)state;
	rankset_add_set(set, set);
	rankset_keep_set(set, set);
	assert_set(set, "1-3");
	rankset_remove_set(set, set);
	assert_true(rankset_is_empty(set));
	rankset_destroy(set);
}

static void test_members(void **state)
{
	struct rankset *set = rankset_create();

	(void)state;
	rankset_destroy(NULL);
	assert_true(rankset_is_empty(set));
	assert_int_equal(rankset_first(set), -1);
	assert_int_equal(rankset_next(set, 0), -1);
	rankset_add(set, 5);
	rankset_add(set, 5);
	rankset_add_range(set, 8, 7);
	rankset_add_range(set, 65535, 65536);
	assert_false(rankset_contains(set, -1));
	assert_false(rankset_contains(set, 4));
	assert_true(rankset_contains(set, 5));
	assert_int_equal(rankset_count(set), 3);
	rankset_remove(set, 5);
	rankset_remove(set, 6);
	assert_set(set, "65535-65536");
	rankset_destroy(set);
}

/* Iterating visits just the members, in each kind of CRoaring's containers. */
static void test_iterate(void **state)
{
	static const char *const texts[] = {
		"0",         "3-5,7",          "0-200000:3",
		"0-200000",  "1,70000,140001", "0-199998:2,100001-130001",
		"2147483646"};

	(void)state;
	for (size_t i = 0; i < NUM_OF(texts); i++) {
		struct rankset *set = decode(texts[i]);
		int seen = 0, last = -1;

		for (int r = rankset_first(set); r >= 0; r = rankset_next(set, r)) {
			assert_true(r > last);
			assert_true(rankset_contains(set, r));
			last = r;
			seen++;
		}
		assert_int_equal(seen, rankset_count(set));
		rankset_destroy(set);
	}
}

static void test_serialize(void **state)
{
	static const char *const texts[] = {"",           "0",        "3-5,7",
					    "0-200000:3", "0-200000", "1,70000,140001"};

	(void)state;
	for (size_t i = 0; i < NUM_OF(texts); i++) {
		struct rankset *set = decode(texts[i]), *again;
		struct pdb_error err = {0};
		uint8_t *bytes;
		size_t length = rankset_serialize(set, &bytes);

		again = rankset_deserialize(bytes, length, 200001, &err);
		assert_non_null(again);
		assert_true(rankset_equal(set, again));
		rankset_destroy(again);
		if (!rankset_is_empty(set)) {
			assert_null(rankset_deserialize(bytes, length, rankset_first(set), &err));
			assert_error(&err, ERROR_FORMAT, "not a valid set");
		}
		for (size_t cut = 0; cut < length && cut < 4096; cut++)
			assert_null(rankset_deserialize(bytes, cut, 200001, NULL));
		free(bytes);
		rankset_destroy(set);
	}
}

/* Whatever the bytes are: a set of ranks below size, or a refusal. */
static void test_deserialize_mutated(void **state)
{
	struct rankset *set = decode("3-5,7,1000-9000:3,70000-80000,140000-190000:2");
	uint8_t *bytes, *copy;
	size_t length = rankset_serialize(set, &bytes);

	(void)state;
	copy = malloc(length);
	srandom(1);
	for (int round = 0; round < 3000; round++) {
		struct rankset *again;

		memcpy(copy, bytes, length);
		for (int n = 1 + (int)(random() % 4); n > 0; n--)
			copy[(size_t)random() % (random() % 2 ? length : 40)] = (uint8_t)random();
		again = rankset_deserialize(copy, length, 200000, NULL);
		if (!again)
			continue;
		assert_in_range(rankset_count(again), 0, 200000);
		for (int r = rankset_first(again); r >= 0; r = rankset_next(again, r + 999))
			assert_in_range(r, 0, 199999);
		rankset_destroy(again);
	}
	free(copy);
	free(bytes);
	rankset_destroy(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_decode_refused),
		cmocka_unit_test(test_encode_limited),
		cmocka_unit_test(test_algebra),
		cmocka_unit_test(test_with_itself),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_iterate),
		cmocka_unit_test(test_serialize),
		cmocka_unit_test(test_deserialize_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
