/* SPDX-License-Identifier: BSD-3-Clause
 * A job of 8 ranks in simulated time, looked at 10 times a second. */
#include <math.h>
#include <string.h>

#include "analysis/hang/rates.h"
#include "analysis/hang/statistics.h"
#include "tests/unit/unit.h"

enum { RANKS = 8, MS = 1000000 };

struct job {
	struct rates *rates;
	uint64_t now, random;
	double done[RANKS];    /* transitions */
	double speed[RANKS];   /* of them per second */
	double outside[RANKS]; /* share of time */
	uint64_t place;
};

static struct job start_job(double speed)
{
	struct job job = {.random = 3};

	job.rates = rates_create(RANKS, 0.001, NULL);
	for (int r = 0; r < RANKS; r++) {
		job.speed[r] = speed;
		job.outside[r] = 0.5;
	}
	return job;
}

static void run(struct job *job, double seconds)
{
	for (int i = 0; i < (int)(seconds * 10); i++) {
		struct pace_look looks[RANKS];

		job->now += 100 * MS;
		for (int r = 0; r < RANKS; r++) {
			double jitter = 0.8 + 0.4 * statistics_random_unit(&job->random);
			bool is_outside = statistics_random_unit(&job->random) < job->outside[r];

			job->done[r] += job->speed[r] * jitter / 10;
			looks[r].moves = (uint64_t)job->done[r] + 1;
			looks[r].place = job->place;
			looks[r].look = is_outside ? HANG_OUTSIDE : HANG_INSIDE;
		}
		rates_add(job->rates, job->now, looks);
	}
}

static struct rates_report report_of(const struct job *job)
{
	struct rates_report report;

	rates_report(job->rates, &report);
	return report;
}

static void test_equals(void **state)
{
	struct job job = start_job(100);
	struct rates_report report;

	(void)state;
	assert_int_equal(report_of(&job).num_windows, 0);
	for (int i = 0; i < 300; i++) {
		run(&job, 1);
		report = report_of(&job);
		assert_int_equal(report.num_slow_ranks, 0);
		assert_false(report.is_slow_phase);
	}
	assert_in_range(report.num_windows, 299, 301);
	assert_true(fabs(report.usual - 100) < 5 && fabs(report.rate - 100) < 20);
	rates_destroy(job.rates);
	rates_destroy(NULL);
}

/* 23 of 24 windows make chance smaller than 0.001 / 8, also 13 of 13 at the beginning. */
static void test_rank_waited_for(void **state)
{
	struct job job = start_job(100);
	struct rates_report report;

	(void)state;
	for (int r = 0; r < RANKS; r++)
		job.outside[r] = 0.1;
	run(&job, 30);
	job.outside[2] = 1;
	run(&job, 8);
	assert_int_equal(report_of(&job).num_slow_ranks, 0);
	run(&job, 16);
	report = report_of(&job);
	assert_int_equal(report.num_slow_ranks, 1);
	assert_int_equal(report.slow_ranks[0].rank, 2);
	assert_true(fabs(report.slow_ranks[0].outside - 1) < 0.05);
	assert_true(fabs(report.slow_ranks[0].usual - 0.1) < 0.05);
	assert_true(report.slow_ranks[0].seconds == 24);
	assert_false(report.is_slow_phase);
	job.outside[2] = 0.05;
	run(&job, 10);
	assert_int_equal(report_of(&job).num_slow_ranks, 0);
	rates_destroy(job.rates);
}

/* Steadily a little more to do is no news, nor are more transitions. */
static void test_small_difference(void **state)
{
	struct job job = start_job(1000);

	(void)state;
	job.outside[5] = 0.6;
	job.speed[6] = 100;
	run(&job, 60);
	assert_int_equal(report_of(&job).num_slow_ranks, 0);
	rates_destroy(job.rates);
}

/* Everybody is slower: from one moment on, in the same place or in another. */
static void test_slow_phase(void **state)
{
	struct rates_report report;

	(void)state;
	for (uint64_t place = 0; place < 2; place++) {
		struct job job = start_job(100);

		run(&job, 30);
		for (int r = 0; r < RANKS; r++)
			job.speed[r] = 40;
		job.place = place;
		run(&job, 1);
		assert_false(report_of(&job).is_slow_phase); /* one of 31 */
		run(&job, 4);
		report = report_of(&job);
		assert_int_equal(report.is_slow_phase, place == 0);
		assert_int_equal(report.num_slow_ranks, 0);
		if (report.is_slow_phase) {
			assert_true(report.slow_seconds >= 4 && report.slow_seconds <= 5);
			assert_true(fabs(report.rate - 40) < 8 && fabs(report.usual - 100) < 8);
		}
		rates_destroy(job.rates);
	}
}

/* Ever slower: also when nothing is left in the history of how fast it was. Slower, then fast, or
 * elsewhere. */
static void test_ever_slower(void **state)
{
	(void)state;
	for (uint64_t place = 0; place < 2; place++) {
		struct job job = start_job(100);
		bool has_been_slow = false;

		run(&job, 30);
		for (int second = 0; second < 300; second++) {
			for (int r = 0; r < RANKS; r++)
				job.speed[r] = 100 / (1 + second / 10.0);
			run(&job, 1);
			assert_false(has_been_slow && !report_of(&job).is_slow_phase);
			has_been_slow |= report_of(&job).is_slow_phase;
		}
		assert_true(has_been_slow);
		assert_true(fabs(report_of(&job).usual - 100) < 30);
		for (int r = 0; r < RANKS; r++)
			job.speed[r] = place ? 3 : 100;
		job.place = place;
		run(&job, 12);
		assert_false(report_of(&job).is_slow_phase);
		assert_int_equal(report_of(&job).is_elsewhere, place);
		rates_destroy(job.rates);
	}
}

/* Windows that grow make ranks be compared anew: until then nothing says that a slow one is not any
 * more. */
static void test_compared_anew(void **state)
{
	struct job job = start_job(100);
	bool was_compared = false;

	(void)state;
	run(&job, 60);
	assert_true(report_of(&job).are_compared);
	for (int r = 0; r < RANKS; r++) {
		job.outside[r] = r == 2 ? 1 : 0.1;
		job.speed[r] = 0.2;
	}
	run(&job, 60);
	for (int second = 0; second < 600; second++) {
		run(&job, 1);
		was_compared |= report_of(&job).are_compared;
		assert_false(report_of(&job).are_compared && report_of(&job).num_slow_ranks != 1);
	}
	assert_true(was_compared);
	rates_destroy(job.rates);
}

/* A transition in 10 s: windows grow until they have some. */
static void test_long_stays(void **state)
{
	struct job job = start_job(0.1);

	(void)state;
	run(&job, 1000);
	assert_in_range(report_of(&job).num_windows, 40, 160);
	assert_true(fabs(report_of(&job).usual - 0.1) < 0.05);
	assert_int_equal(report_of(&job).num_slow_ranks, 0);
	rates_destroy(job.rates);
}

/* Unknown ranks count for nothing, nor does a clock that was set. */
static void test_unknown(void **state)
{
	struct job job = start_job(100);
	struct pace_look looks[RANKS];

	(void)state;
	run(&job, 20);
	for (int r = 0; r < RANKS; r++)
		looks[r] = (struct pace_look){.look = HANG_UNKNOWN};
	rates_add(job.rates, 5, looks);
	rates_add(job.rates, UINT64_MAX / 2, looks);
	for (uint64_t i = 0; i < 100; i++)
		rates_add(job.rates, UINT64_MAX / 2 + i * 100 * MS, looks);
	assert_int_equal(report_of(&job).num_slow_ranks, 0);
	rates_destroy(job.rates);
}

static void test_refusals(void **state)
{
	struct pdb_error err;

	(void)state;
	assert_null(rates_create(0, 0.001, &err));
	assert_error(&err, ERROR_USAGE, "no ranks");
	assert_null(rates_create(2, 1, &err));
	assert_error(&err, ERROR_USAGE, "alpha");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equals),           cmocka_unit_test(test_rank_waited_for),
		cmocka_unit_test(test_small_difference), cmocka_unit_test(test_slow_phase),
		cmocka_unit_test(test_ever_slower),      cmocka_unit_test(test_compared_anew),
		cmocka_unit_test(test_long_stays),       cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
