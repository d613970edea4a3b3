/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "analysis/hang/hang_model.h"
#include "analysis/hang/statistics.h"
#include "tests/unit/unit.h"

static struct hang_model start_model(void)
{
	struct hang_model model;

	hang_model_init(&model);
	model.alpha = 0.001;
	model.interval_ns = 4e8;
	model.max_interval_ns = 6.4e9;
	model.novel_ns = 12e9;
	return model;
}

/* The share of suspicious samples. */
static double share(const struct hang_model *model)
{
	return (double)model->num_suspicious / (double)(model->num - model->num_low);
}

/* S_out 0, 10, ... 90 in random order. */
static void feed(struct hang_model *model, size_t num, uint64_t seed)
{
	for (size_t i = 0; i < num; i++)
		hang_model_add(model, (int)(statistics_random(&seed) % 10) * 10, true);
}

/* By the numbers of samples at which the tolerances change: p-hat is a tenth of some count. Of a
 * share of 0.15 that is looked at 9000 times per hour 9 in a row are rarer than 0.001 per hour; the
 * few longer stretches that there were ask for some more. */
static void test_choice(void **state)
{
	struct hang_model model = start_model();

	(void)state;
	feed(&model, 10, 1);
	assert_int_equal(model.level, -1);
	assert_int_equal(hang_model_needed(&model), UINT32_MAX);
	assert_in_range(hang_model_wanted(&model), 11, 20);
	feed(&model, 1000, 2);
	hang_model_add(&model, 50, true);
	assert_int_equal(model.level, HANG_LEVELS - 1);
	assert_int_equal(model.threshold, 0);
	assert_true(fabs(share(&model) - 0.1) < 0.04);
	assert_in_range(hang_model_needed(&model), 9, 40);
	hang_model_deinit(&model);
}

/* The worked example of section 3.1 as the first 16 samples: I is doubled, 8 of them are kept. */
static void test_doubling(void **state)
{
	static const uint8_t s_out[] = {2, 1, 1, 2, 1, 1, 0, 0, 8, 9, 10, 8, 9, 1, 9, 9};
	static const uint8_t kept[] = {10, 20, 10, 0, 90, 80, 10, 90};
	struct hang_model model = start_model();

	(void)state;
	for (size_t i = 0; i < sizeof(s_out); i++)
		assert_int_equal(hang_model_add(&model, s_out[i] * 10, true), i == 15);
	assert_int_equal(model.num, 8);
	assert_memory_equal(model.values, kept, sizeof(kept));
	assert_true(model.interval_ns == 8e8);
	hang_model_deinit(&model);

	model = start_model();
	model.max_interval_ns = 7e8;
	for (size_t i = 0; i < sizeof(s_out); i++)
		assert_false(hang_model_add(&model, s_out[i] * 10, true));
	assert_int_equal(model.num, 16);
	hang_model_deinit(&model);
}

/* S_out that never changes: what was never seen is learnt, unless it is low: that is a start. */
static void test_constant(void **state)
{
	struct hang_model model = start_model();

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_false(hang_model_add(&model, 100, false));
	assert_int_equal(model.level, HANG_LEVELS);
	assert_int_equal(model.threshold, 99);
	assert_int_equal(hang_model_needed(&model), 30); /* novel_ns */
	hang_model_deinit(&model);

	model = start_model();
	for (int i = 0; i < 1000; i++)
		hang_model_add(&model, 10, false);
	assert_int_equal(model.num, 16);
	assert_int_equal(model.level, -1);
	hang_model_deinit(&model);
}

/* `length` low samples and a high one, so many times. */
static void feed_stretches(struct hang_model *model, int num, int length)
{
	for (int s = 0; s < num; s++) {
		for (int i = 0; i < length; i++)
			hang_model_add(model, 0, i == 0);
		for (int i = 0; i < 5; i++)
			hang_model_add(model, 80 + s % 2 * 10, true);
	}
}

/* Samples that hang together. */
static void test_long_stretches(void **state)
{
	struct hang_model model = start_model();

	(void)state;
	model.max_interval_ns = 4e8;
	feed_stretches(&model, 200, 20);
	assert_int_equal(model.threshold, 0);
	assert_int_equal(model.longest, 20);
	assert_true(fabs(share(&model) - 0.8) < 0.01);
	model.alpha = 0.1;
	assert_true(hang_model_needed(&model) >= 40);
	hang_model_deinit(&model);
}

/* The present stretch is not learnt while it lasts, and counts only from the last movement. */
static void test_present_stretch(void **state)
{
	struct hang_model model = start_model();
	uint32_t needed;
	double p;

	(void)state;
	feed(&model, 1000, 5);
	hang_model_add(&model, 50, true);
	p = share(&model);
	needed = hang_model_needed(&model);
	for (uint32_t i = 0; i + 1 < needed; i++) {
		hang_model_add(&model, 0, false);
		assert_false(hang_model_is_hang(&model));
	}
	assert_true(share(&model) == p);
	hang_model_add(&model, 0, true);
	assert_int_equal(model.num_low, needed);
	assert_int_equal(model.num_still, 1);
	/* Nobody had moved for so long, and then somebody has: next time it takes twice that. */
	for (uint32_t i = 1; i < 2 * (needed - 1); i++) {
		assert_false(hang_model_is_hang(&model));
		hang_model_add(&model, 0, false);
	}
	assert_true(hang_model_is_hang(&model));
	assert_true(hang_model_chance(&model) <= 0.001);
	hang_model_end_stretch(&model);
	assert_false(hang_model_is_hang(&model));
	assert_int_equal(model.longest, 3 * (needed - 1));
	assert_true(hang_model_needed(&model) >= 6 * (needed - 1));
	hang_model_deinit(&model);
}

/* S_out lower than it was more than a few times needs the longer proof. */
static void test_depth(void **state)
{
	struct hang_model model = start_model();
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 1000; i++)
		hang_model_add(&model, 80 + 10 * (int)(statistics_random(&random) % 3), true);
	hang_model_add(&model, 100, true);
	assert_int_equal(model.threshold, 80);
	assert_true(hang_model_needed(&model) < 30);
	for (int i = 0; i < 29; i++) {
		hang_model_add(&model, 10, false);
		assert_false(hang_model_is_hang(&model));
	}
	hang_model_add(&model, 10, false);
	assert_true(hang_model_is_hang(&model));
	hang_model_deinit(&model);
}

/* More samples than are kept: the oldest half goes. */
static void test_history(void **state)
{
	struct hang_model model = start_model();

	(void)state;
	feed(&model, HANG_HISTORY + 1000, 5);
	assert_in_range(model.num, HANG_HISTORY / 2, HANG_HISTORY / 2 + 1100);
	assert_int_equal(model.threshold, 0);
	assert_true(fabs(share(&model) - 0.1) < 0.01);
	hang_model_deinit(&model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),          cmocka_unit_test(test_doubling),
		cmocka_unit_test(test_constant),        cmocka_unit_test(test_long_stretches),
		cmocka_unit_test(test_present_stretch), cmocka_unit_test(test_depth),
		cmocka_unit_test(test_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
