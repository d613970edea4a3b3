/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "model/sample.h"
#include "tests/unit/unit.h"

static void test_find(void **state)
{
	static const struct {
		int rank;
		pid_t tid;
		uint64_t when_ns; /* of the sample expected; 0: none */
	} table[] = { { 0, 0, 30 }, { 0, 10, 30 }, { 0, 11, 40 }, { 1, 0, 5 },
		      { 2, 0, 0 },  { 0, 99, 0 },  { 3, 0, 0 },	  { 3, 12, 6 } };
	struct samples *samples = samples_create();

	(void)state;
	samples_add(samples, &(struct sample){ .tid = 10, .is_main = true, .when_ns = 10 });
	samples_add(samples, &(struct sample){ .tid = 10, .is_main = true, .when_ns = 30 });
	samples_add(samples, &(struct sample){ .tid = 10, .is_main = true, .when_ns = 20 });
	samples_add(samples, &(struct sample){ .tid = 11, .when_ns = 40 });
	samples_add(samples, &(struct sample){
				     .rank = 1, .is_main = true, .when_ns = 5, .note = strdup("gone") });
	samples_add(samples, &(struct sample){ .rank = 3, .tid = 12, .when_ns = 6 });
	for (size_t i = 0; i < NUM_OF(table); i++) {
		const struct sample *found = samples_find(samples, table[i].rank, table[i].tid);

		assert_int_equal(found ? found->when_ns : 0, table[i].when_ns);
	}
	assert_string_equal(samples_find(samples, 1, 0)->note, "gone");
	samples_destroy(samples);
	samples_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_find) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
