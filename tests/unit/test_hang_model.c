/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "analysis/hang/hang_model.h"
#include "analysis/hang/statistics.h"
#include "tests/unit/unit.h"

static struct hang_model start_model(bool is_published)
{
	struct hang_model model;

	hang_model_init(&model);
	model.is_published = is_published;
	model.alpha = 0.001;
	model.interval_ns = 4e8;
	model.max_interval_ns = 6.4e9;
	model.novel_ns = 12e9;
	return model;
}

/* ParaStack, section 3.2; p rounded. */
static void test_levels(void **state)
{
	static const struct hang_level expected[HANG_LEVELS] = {
		{0.3, 0.47, 11}, {0.2, 0.27, 19}, {0.1, 0.12, 42}, {0.05, 0.06, 86}};

	(void)state;
	for (int i = 0; i < HANG_LEVELS; i++) {
		const struct hang_level *level = &hang_levels()[i];

		assert_true(level->tolerance == expected[i].tolerance);
		assert_true(fabs(level->p - expected[i].p) < 0.005);
		assert_int_equal(level->num_samples, expected[i].num_samples);
	}
}

static void test_fewest_samples(void **state)
{
	static const struct {
		double p, tolerance, expected;
	} cases[] = {
		{0.47, 0.3, 11}, {0.27, 0.2, 19}, {0.12, 0.1, 42},  {0.1, 0.3, 50},
		{0.9, 0.3, 50},  {0.5, 0.1, 97},  {0.5, 0.05, 385}, {0.01, 0.05, 500},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		assert_int_equal(hang_fewest_samples(cases[i].p, cases[i].tolerance),
				 cases[i].expected);
	assert_true(isinf(hang_fewest_samples(0, 0.1)));
	assert_true(isinf(hang_fewest_samples(1, 0.1)));
}

/* 27 is ParaStack's, section 3.3: log of 0.001 to the base 0.77 is 26.4. */
static void test_suspicions_needed(void **state)
{
	static const struct {
		double q, alpha;
		uint32_t expected;
	} cases[] = {
		{0.77, 0.001, 27}, {0.47, 0.001, 10}, {0.22, 0.001, 5},       {0.11, 0.001, 4},
		{0.77, 0.01, 18},  {0.11, 1e-7, 8},   {0.98, 0.001, 342},     {0.1, 0.5, 1},
		{0, 0.001, 1},     {0.5, 1, 1},       {1, 0.001, UINT32_MAX},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++)
		assert_int_equal(hang_suspicions_needed(cases[i].q, cases[i].alpha),
				 cases[i].expected);
}

/* S_out 0, 10, ... 90 in random order. */
static void feed(struct hang_model *model, size_t num, uint64_t seed)
{
	for (size_t i = 0; i < num; i++)
		hang_model_add(model, (int)(statistics_random(&seed) % 10) * 10, true);
}

/* By the numbers of samples at which the tolerances change: p-hat is a tenth of some count. */
static void test_choice(void **state)
{
	struct hang_model model = start_model(true);

	(void)state;
	feed(&model, 10, 1);
	assert_int_equal(model.level, -1);
	assert_true(hang_model_q(&model) == 1);
	assert_int_equal(hang_model_needed(&model), UINT32_MAX);
	assert_in_range(hang_model_wanted(&model), 11, 20);
	feed(&model, 1000, 2);
	assert_int_equal(model.level, HANG_LEVELS - 1);
	assert_int_equal(model.threshold, 0);
	assert_true(fabs(hang_model_p(&model) - 0.1) < 0.04);
	assert_true(fabs(hang_model_q(&model) - 0.05 - hang_model_p(&model)) < 1e-9);
	assert_int_equal(hang_model_needed(&model),
			 hang_suspicions_needed(hang_model_q(&model), 0.001));
	hang_model_deinit(&model);
}

/* The worked example of section 3.1 as the first 16 samples: I is doubled, 8 of them are kept. */
static void test_doubling(void **state)
{
	static const uint8_t s_out[] = {2, 1, 1, 2, 1, 1, 0, 0, 8, 9, 10, 8, 9, 1, 9, 9};
	static const uint8_t kept[] = {10, 20, 10, 0, 90, 80, 10, 90};
	struct hang_model model = start_model(false);

	(void)state;
	for (size_t i = 0; i < sizeof(s_out); i++)
		assert_int_equal(hang_model_add(&model, s_out[i] * 10, true), i == 15);
	assert_int_equal(model.num, 8);
	assert_memory_equal(model.values, kept, sizeof(kept));
	assert_true(model.interval_ns == 8e8);
	assert_false(model.is_random);
	hang_model_deinit(&model);

	model = start_model(false);
	model.max_interval_ns = 7e8;
	for (size_t i = 0; i < sizeof(s_out); i++)
		assert_false(hang_model_add(&model, s_out[i] * 10, true));
	assert_int_equal(model.num, 16);
	hang_model_deinit(&model);
}

/* S_out that never changes: the published rule doubles I for ever; ours learns what was never seen,
 * unless it is low: that is a start. */
static void test_constant(void **state)
{
	struct hang_model model = start_model(true);

	(void)state;
	model.max_interval_ns = 1e18;
	for (int i = 0; i < 1000; i++)
		hang_model_add(&model, 100, false);
	assert_int_equal(model.level, -1);
	assert_true(model.interval_ns > 4e12);
	hang_model_deinit(&model);

	model = start_model(false);
	for (int i = 0; i < 1000; i++)
		assert_false(hang_model_add(&model, 100, false));
	assert_int_equal(model.level, HANG_LEVELS);
	assert_int_equal(model.threshold, 99);
	assert_true(hang_model_q(&model) < 0.005);
	assert_int_equal(hang_model_needed(&model), 30); /* novel_ns */
	hang_model_deinit(&model);

	model = start_model(false);
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

/* Samples that hang together: by the published rule any stretch is a hang. */
static void test_long_stretches(void **state)
{
	struct hang_model models[] = {start_model(true), start_model(false)};

	(void)state;
	for (size_t m = 0; m < 2; m++) {
		models[m].max_interval_ns = 4e8;
		feed_stretches(&models[m], 200, 20);
		assert_int_equal(models[m].threshold, 0);
		assert_int_equal(models[m].longest, 20);
		assert_true(fabs(hang_model_p(&models[m]) - 0.8) < 0.01);
	}
	assert_int_equal(hang_model_needed(&models[0]), 43);
	models[0].alpha = models[1].alpha = 0.1;
	assert_in_range(hang_model_needed(&models[0]), 10, 16);
	assert_true(hang_model_needed(&models[1]) >= 40);
	hang_model_deinit(&models[0]);
	hang_model_deinit(&models[1]);
}

/* The present stretch is not learnt while it lasts, and counts only from the last movement. */
static void test_present_stretch(void **state)
{
	struct hang_model model = start_model(false);
	uint32_t needed;
	double p;

	(void)state;
	feed(&model, 1000, 5);
	hang_model_add(&model, 50, true);
	p = hang_model_p(&model);
	needed = hang_model_needed(&model);
	for (uint32_t i = 0; i + 1 < needed; i++) {
		hang_model_add(&model, 0, false);
		assert_false(hang_model_is_hang(&model));
	}
	assert_true(hang_model_p(&model) == p);
	hang_model_add(&model, 0, true);
	assert_int_equal(model.num_low, needed);
	assert_int_equal(hang_model_evidence(&model), 1);
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
	struct hang_model model = start_model(false);
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
	struct hang_model model = start_model(false);

	(void)state;
	feed(&model, HANG_HISTORY + 1000, 5);
	assert_in_range(model.num, HANG_HISTORY / 2, HANG_HISTORY / 2 + 1100);
	assert_int_equal(model.threshold, 0);
	assert_true(fabs(hang_model_p(&model) - 0.1) < 0.01);
	hang_model_deinit(&model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_fewest_samples),
		cmocka_unit_test(test_suspicions_needed),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_doubling),
		cmocka_unit_test(test_constant),
		cmocka_unit_test(test_long_stretches),
		cmocka_unit_test(test_present_stretch),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
