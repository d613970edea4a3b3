/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/job/recent.h"
#include "tests/unit/unit.h"

static void test_recent(void **state)
{
	struct recent recent = {0};

	(void)state;
	for (uint64_t i = 0; i < 64; i++)
		assert_true(recent_add(&recent, i));
	for (uint64_t i = 0; i < 64; i++)
		assert_false(recent_add(&recent, i));
	/* The oldest goes. */
	assert_true(recent_add(&recent, 64));
	assert_false(recent_add(&recent, 1));
	assert_true(recent_add(&recent, 0));
	assert_true(recent_add(&recent, 1));
	recent_clear(&recent);
	assert_true(recent_add(&recent, 64));
	assert_false(recent_add(&recent, 64));
	recent_deinit(&recent);
	assert_true(recent_add(&recent, 64));
	recent_deinit(&recent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
