/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "model/job/callpath.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "tests/unit/unit.h"

static void test_find(void **state)
{
	static const struct {
		int rank;
		pid_t tid;
		uint64_t when_ns; /* of the sample expected; 0: none */
	} table[] = {{0, 0, 30}, {0, 10, 30}, {0, 11, 40}, {1, 0, 5},
		     {2, 0, 0},  {0, 99, 0},  {3, 0, 0},   {3, 12, 6}};
	struct samples *samples = samples_create();

	(void)state;
	samples_add(samples, &(struct sample){.tid = 10, .is_main = true, .when_ns = 10});
	samples_add(samples, &(struct sample){.tid = 10, .is_main = true, .when_ns = 30});
	samples_add(samples, &(struct sample){.tid = 10, .is_main = true, .when_ns = 20});
	samples_add(samples, &(struct sample){.tid = 11, .when_ns = 40});
	samples_add(
		samples,
		&(struct sample){.rank = 1, .is_main = true, .when_ns = 5, .note = strdup("gone")});
	samples_add(samples, &(struct sample){.rank = 3, .tid = 12, .when_ns = 6});
	for (size_t i = 0; i < NUM_OF(table); i++) {
		const struct sample *found = samples_find(samples, table[i].rank, table[i].tid);

		assert_int_equal(found ? found->when_ns : 0, table[i].when_ns);
	}
	assert_string_equal(samples_find(samples, 1, 0)->note, "gone");
	samples_destroy(samples);
	samples_destroy(NULL);
}

/* Those of some ranks, of the others, of all; each has one owner. */
static void test_move(void **state)
{
	struct samples *from = samples_create(), *to = samples_create(), *all = samples_create();
	struct rankset *ranks = rankset_create();

	(void)state;
	for (int rank = 0; rank < 4; rank++)
		samples_add_failed(from, rank, 10 + rank, "gone");
	from->samples[1].values = xcalloc(2, sizeof(*from->samples[1].values));
	from->samples[1].num_values = 2;
	rankset_add(ranks, 1);
	samples_move(to, from, ranks, true);
	assert_int_equal(to->samples[0].num_values, 2);
	assert_int_equal(from->samples[1].num_values, 0);
	assert_int_equal(to->num_samples, 1);
	assert_int_equal(to->samples[0].tid, 11);
	assert_string_equal(to->samples[0].note, "gone");
	assert_null(from->samples[1].note);
	samples_move(to, from, ranks, false);
	assert_int_equal(to->num_samples, 4);
	assert_int_equal(to->samples[3].rank, 3);
	samples_move(all, to, NULL, true);
	assert_int_equal(all->num_samples, 4);
	rankset_destroy(ranks);
	samples_destroy(from);
	samples_destroy(to);
	samples_destroy(all);
}

/* A path of frames with these offsets, outermost first; 0 ends them. */
static uint32_t make_path(struct callpaths *callpaths, const int offsets[3])
{
	uint32_t path = CALLPATH_NONE;

	for (int i = 0; i < 3 && offsets[i]; i++)
		path = callpaths_intern(callpaths, path, 0, (uint64_t)offsets[i], true);
	return path;
}

/* A sample with values whose probes are `first` and up, at these depths; -1 ends them. */
static void add_with_values(struct samples *samples, uint32_t path, uint64_t when_ns,
			    const int *depths, uint32_t first)
{
	struct sample sample = {.rank = 7, .is_main = true, .path = path, .when_ns = when_ns};

	sample.values = calloc(3, sizeof(*sample.values));
	for (int i = 0; i < 3 && depths[i] >= 0; i++)
		sample.values[sample.num_values++] = (struct sample_value){
			(uint32_t)depths[i], first + (uint32_t)i, 100 * first + i};
	samples_add(samples, &sample);
}

/* What is known of frames that have not changed is taken over, and no other. */
static void test_adopt_values(void **state)
{
	static const struct {
		int old[3], old_depths[3], fresh[3], fresh_depths[3];
		/* depth and probe of each value; old probes are 0 and up, fresh ones 10 */
		int expected[6];
		size_t num;
	} table[] = {
		/* the same stack */
		{{1, 2, 3}, {-1}, {1, 2, 3}, {0, 2, -1}, {0, 10, 2, 11}, 2},
		/* it spins in its innermost frame: values of that are of another place */
		{{1, 2, 3}, {-1}, {1, 2, 4}, {0, 1, 2}, {0, 10, 1, 11}, 2},
		/* it has called something meanwhile, or has come back */
		{{1, 2}, {-1}, {1, 2, 4}, {1, 2, -1}, {1, 10}, 1},
		{{1, 2, 4}, {-1}, {1, 2}, {0, 1, -1}, {0, 10, 1, 11}, 2},
		/* what it has of that frame stays; what it has inside stays, too */
		{{1, 2, 3}, {1, 2, -1}, {1, 2, 4}, {0, 1, 2}, {0, 10, 1, 0, 2, 1}, 3},
		/* more is read there by now, or could not be read this time */
		{{1, 2, 3}, {1, -1}, {1, 2, 3}, {1, 1, -1}, {1, 10, 1, 11}, 2},
		{{1, 2, 3}, {1, 1, -1}, {1, 2, 3}, {1, -1}, {1, 0, 1, 1}, 2},
		/* nothing is the same; no stack */
		{{1, 2}, {-1}, {3, 2}, {0, 1, -1}, {0}, 0},
		{{0}, {-1}, {1, 2}, {0, 1, -1}, {0}, 0},
		{{1, 2}, {-1}, {0}, {-1}, {0}, 0},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct callpaths *callpaths = callpaths_create();
		struct samples *old = samples_create(), *fresh = samples_create();
		const struct sample *found;

		/* Of the latest one alone. */
		add_with_values(old, make_path(callpaths, table[i].old), 1, (int[]){-1}, 0);
		add_with_values(old, make_path(callpaths, table[i].old), 2, table[i].old_depths, 0);
		add_with_values(fresh, make_path(callpaths, table[i].fresh), 3,
				table[i].fresh_depths, 10);
		samples_adopt_values(old, fresh, callpaths);
		assert_int_equal(old->samples[0].num_values, 0);
		found = samples_find(old, 7, 0);
		assert_int_equal(found->num_values, table[i].num);
		for (size_t k = 0; k < table[i].num; k++) {
			assert_int_equal(found->values[k].depth, table[i].expected[2 * k]);
			assert_int_equal(found->values[k].probe, table[i].expected[2 * k + 1]);
			assert_int_equal(found->values[k].value,
					 found->values[k].probe < 10
						 ? found->values[k].probe
						 : 1000 + found->values[k].probe - 10);
		}
		samples_destroy(fresh);
		samples_destroy(old);
		callpaths_destroy(callpaths);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_find), cmocka_unit_test(test_move),
					   cmocka_unit_test(test_adopt_values)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
