/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "attach/daemons/overlay.h"
#include "model/buffer.h"
#include "tests/unit/unit.h"

/*	0
 *	+- 4 - 6 - 7	(of 8 members)
 *	|  +- 5
 *	+- 2 - 3
 *	+- 1		*/
static const struct {
	uint32_t i, n;
	size_t num_children;
	uint32_t children[4];
	uint32_t subtree;
	int budget_ms; /* of 1200 */
} trees[] = {
	{0, 1, 0, {0}, 1, 1200},          {0, 2, 1, {1}, 2, 1200},       {1, 2, 0, {0}, 1, 600},
	{0, 8, 3, {4, 2, 1}, 8, 1200},    {4, 8, 2, {6, 5}, 4, 1000},    {6, 8, 1, {7}, 2, 800},
	{7, 8, 0, {0}, 1, 600},           {0, 6, 3, {4, 2, 1}, 6, 1200}, {4, 6, 1, {5}, 2, 1000},
	{0, 9, 4, {8, 4, 2, 1}, 9, 1200}, {8, 9, 0, {0}, 1, 1050},
};

static void test_tree(void **state)
{
	(void)state;
	for (size_t k = 0; k < NUM_OF(trees); k++) {
		uint32_t children[OVERLAY_CHILDREN_MAX];
		size_t num = overlay_children(trees[k].i, trees[k].n, children);

		assert_int_equal(num, trees[k].num_children);
		for (size_t c = 0; c < num; c++) {
			assert_int_equal(children[c], trees[k].children[c]);
			assert_int_equal(overlay_parent(children[c]), trees[k].i);
		}
		assert_int_equal(overlay_subtree(trees[k].i, trees[k].n), trees[k].subtree);
		assert_int_equal(overlay_budget_ms(trees[k].i, trees[k].n, 1200),
				 trees[k].budget_ms);
	}
}

/* Every member but 0 is the child of just one, and subtrees add up. */
static void test_tree_is_one(void **state)
{
	(void)state;
	for (uint32_t n = 1; n < 70; n++) {
		uint32_t seen[70] = {0};

		for (uint32_t i = 0; i < n; i++) {
			uint32_t children[OVERLAY_CHILDREN_MAX], total = 1;
			size_t num = overlay_children(i, n, children);

			for (size_t c = 0; c < num; c++) {
				seen[children[c]]++;
				total += overlay_subtree(children[c], n);
				assert_true(overlay_budget_ms(children[c], n, 10000) <
					    overlay_budget_ms(i, n, 10000));
			}
			assert_int_equal(total, overlay_subtree(i, n));
		}
		assert_int_equal(seen[0], 0);
		for (uint32_t i = 1; i < n; i++)
			assert_int_equal(seen[i], 1);
	}
	assert_int_equal(overlay_subtree(3, 3), 0);
	assert_int_equal(overlay_subtree(0, UINT32_MAX), UINT32_MAX);
}

static void test_ranges(void **state)
{
	struct overlay_ranges set = {.ranges = NULL};

	(void)state;
	overlay_ranges_add(&set, 0, 1);
	overlay_ranges_add(&set, 1, 2);
	overlay_ranges_add(&set, 7, 0);
	overlay_ranges_add(&set, 9, 2);
	overlay_ranges_add(&set, 4, 1);
	assert_int_equal(set.num, 3); /* 0-2, 9-10, 4 */
	assert_int_equal(overlay_ranges_total(&set), 6);
	const uint32_t numbers[] = {0, 1, 2, 9, 10, 4};
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(overlay_ranges_at(&set, i), numbers[i]);
		assert_int_equal(overlay_ranges_index(&set, numbers[i]), i);
	}
	assert_int_equal(overlay_ranges_index(&set, 3), -1);
	assert_int_equal(overlay_ranges_index(&set, 11), -1);
	overlay_ranges_deinit(&set);
}

static void test_reduction(void **state)
{
	struct overlay_ranges holes = {.ranges = NULL};
	struct reduction reduction;

	(void)state;
	reduction_begin(&reduction, 5, 0, 8, 1000, 100);
	assert_false(reduction_is_done(&reduction, 100));
	assert_true(reduction_take(&reduction, 5, 2));
	assert_false(reduction_take(&reduction, 5, 2)); /* twice */
	assert_false(reduction_take(&reduction, 5, 6)); /* not to us */
	assert_false(reduction_take(&reduction, 4, 4));
	assert_false(reduction_is_done(&reduction, 1099));
	assert_true(reduction_is_done(&reduction, 1100));
	reduction_holes(&reduction, &holes);
	assert_int_equal(holes.num, 2);
	assert_int_equal(holes.ranges[0].first, 4);
	assert_int_equal(holes.ranges[0].count, 4);
	assert_int_equal(holes.ranges[1].first, 1);
	assert_int_equal(holes.ranges[1].count, 1);
	assert_true(reduction_take(&reduction, 5, 4));
	assert_true(reduction_take(&reduction, 5, 1));
	assert_true(reduction_is_done(&reduction, 101));
	overlay_ranges_deinit(&holes);

	reduction_begin(&reduction, 1, 0, 1, 1000, 0); /* alone */
	assert_true(reduction_is_done(&reduction, 0));
	reduction_begin(&reduction, 1, 7, 8, 1000, 0); /* a leaf */
	assert_true(reduction_is_done(&reduction, 0));
}

/* Who has said nothing for a while is not waited for, who has is, up to the deadline. */
static void test_silence(void **state)
{
	const int64_t silence = OVERLAY_SILENCE_MS;
	struct overlay_ranges holes = {.ranges = NULL};
	struct reduction reduction;

	(void)state;
	reduction_begin(&reduction, 5, 0, 8, 10 * OVERLAY_SILENCE_MS, 100); /* 4, 2, 1 */
	assert_false(reduction_is_done(&reduction, 100 + silence - 1));
	assert_true(reduction_is_done(&reduction, 100 + silence));
	reduction_hear(&reduction, 5, 2, 1000);
	assert_false(reduction_is_done(&reduction, 100 + silence));
	assert_false(reduction_is_done(&reduction, 1000 + silence - 1));
	assert_true(reduction_is_done(&reduction, 1000 + silence));
	reduction_hear(&reduction, 4, 2, 2000); /* of another question */
	reduction_hear(&reduction, 5, 6, 2000); /* answers to somebody else */
	assert_true(reduction_is_done(&reduction, 1000 + silence));
	for (int64_t now = 1000; now < 100 + 10 * silence; now += OVERLAY_PULSE_MS) {
		reduction_hear(&reduction, 5, 2, now);
		assert_false(reduction_is_done(&reduction, now));
	}
	assert_true(reduction_is_done(&reduction, 100 + 10 * silence)); /* late is late */
	assert_true(reduction_take(&reduction, 5, 2));
	reduction_holes(&reduction, &holes);
	assert_int_equal(holes.num, 2); /* the silent ones, with all below: 4-7 and 1 */
	assert_int_equal(overlay_ranges_total(&holes), 5);
	overlay_ranges_deinit(&holes);
}

static struct overlay_message make_example(void)
{
	struct overlay_message message = {
		.sequence = 7,
		.kind = 3,
		.total_ms = 250,
		.payload = (const uint8_t *)"payload",
		.length = 7,
	};

	overlay_ranges_add(&message.ranges, 0, 2);
	overlay_ranges_add(&message.ranges, 5, 3);
	return message;
}

static struct buffer put_example(void)
{
	struct overlay_message message = make_example();
	struct buffer bytes = {.bytes = NULL};

	overlay_put(&bytes, &message);
	overlay_ranges_deinit(&message.ranges);
	return bytes;
}

static void test_wire(void **state)
{
	struct overlay_message message;
	struct buffer bytes = put_example();

	(void)state;
	assert_true(overlay_take(bytes.bytes, bytes.num, 8, &message));
	assert_int_equal(message.sequence, 7);
	assert_int_equal(message.kind, 3);
	assert_int_equal(message.total_ms, 250);
	assert_int_equal(message.ranges.num, 2);
	assert_int_equal(message.ranges.ranges[1].first, 5);
	assert_int_equal(message.ranges.ranges[1].count, 3);
	assert_int_equal(message.length, 7);
	assert_memory_equal(message.payload, "payload", 7);
	overlay_ranges_deinit(&message.ranges);
	for (size_t cut = 0; cut < bytes.num; cut++)
		assert_false(overlay_take(bytes.bytes, cut, 8, &message));
	buffer_put(&bytes, 0); /* bytes behind the end */
	assert_false(overlay_take(bytes.bytes, bytes.num, 8, &message));
	free(bytes.bytes);
}

static void test_wire_refuses(void **state)
{
	static const struct {
		uint32_t total_ms, first, count; /* of the second range */
	} damages[] = {
		{OVERLAY_TOTAL_MS_MAX + 1, 5, 3},
		{250, 5, 0},          /* an empty range */
		{250, 5, 9},          /* more than there are */
		{250, 6, 3},          /* the last one is member 8 */
		{250, 0xffffffff, 3}, /* first + count wraps round */
		{250, 0, 7},          /* 9 in all */
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(damages); i++) {
		struct overlay_message message = make_example(), ret;
		struct buffer bytes = {.bytes = NULL};

		message.total_ms = damages[i].total_ms;
		message.ranges.ranges[1] =
			(struct overlay_range){damages[i].first, damages[i].count};
		overlay_put(&bytes, &message);
		assert_false(overlay_take(bytes.bytes, bytes.num, 8, &ret));
		overlay_ranges_deinit(&message.ranges);
		free(bytes.bytes);
	}
}

/* Any bit changed: refused, or a message within its bounds. */
static void test_wire_flips(void **state)
{
	struct overlay_message message;
	struct buffer example = put_example();
	uint8_t *bytes = example.bytes;
	size_t length = example.num;
	int taken = 0, refused = 0;

	(void)state;
	for (size_t bit = 0; bit < 8 * length; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (overlay_take(bytes, length, 8, &message)) {
			taken++;
			assert_ptr_equal(message.payload + message.length, bytes + length);
			assert_true(overlay_ranges_total(&message.ranges) <= 8);
			for (size_t i = 0; i < message.ranges.num; i++)
				assert_true(message.ranges.ranges[i].first +
						    message.ranges.ranges[i].count <=
					    8);
			overlay_ranges_deinit(&message.ranges);
		} else {
			refused++;
		}
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	/* Sequence, kind and payload may be anything. */
	assert_in_range(taken, 7 * 8, 8 * length);
	assert_in_range(refused, 2 * 8, 8 * length);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),         cmocka_unit_test(test_tree_is_one),
		cmocka_unit_test(test_ranges),       cmocka_unit_test(test_reduction),
		cmocka_unit_test(test_silence),      cmocka_unit_test(test_wire),
		cmocka_unit_test(test_wire_refuses), cmocka_unit_test(test_wire_flips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
