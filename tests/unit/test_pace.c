/* SPDX-License-Identifier: BSD-3-Clause
 * A small job in simulated time, looked at 20 times a second. */
#include <math.h>
#include <string.h>

#include "analysis/hang/pace.h"
#include "tests/unit/unit.h"

enum { RANKS = 4, MS = 1000000, STEP = 50 * MS };
enum place { COMPUTE = 2, ALLREDUCE = 3, WRITE = 5, BARRIER = 7, LATER = 8 };

#define SECONDS(number) ((uint64_t)((number)*1e9))

struct job {
	struct pace *pace;
	uint64_t now;
	struct pace_look looks[RANKS];
};

static struct job start_job(uint64_t watched_ns)
{
	struct pace_settings settings = {
		.num_ranks = RANKS, .alpha = 0.001, .proof_ns = 600 * (uint64_t)1000000000};
	struct job job = {.now = 12345};

	job.pace = pace_create(&settings, watched_ns, NULL);
	assert_non_null(job.pace);
	return job;
}

static void look(struct job *job)
{
	job->now += STEP;
	for (int r = 0; r < RANKS; r++)
		job->looks[r].stay_ns += STEP;
	pace_add(job->pace, job->now, job->looks);
}

/* Rank into a place, after `num` stays there of longest_ns at most. */
static void enter(struct job *job, int rank, enum hang_look where, uint64_t place, uint64_t num,
		  uint64_t longest_ns)
{
	struct pace_look *now = &job->looks[rank];

	now->look = where;
	now->place = place;
	now->moves++;
	now->stay_ns = 0;
	now->num_stays = num;
	now->longest_ns = longest_ns;
}

/* Iterations of 100 ms of computing and an allreduce, for so many seconds; the longest stays are a
 * little longer than usual. */
static void iterate(struct job *job, double seconds)
{
	for (int i = 0; i < (int)(seconds * 10); i++) {
		for (int r = 0; r < RANKS; r++)
			enter(job, r, HANG_OUTSIDE, COMPUTE, (uint64_t)i, i ? 60 * MS : 0);
		look(job);
		for (int r = 0; r < RANKS; r++)
			enter(job, r, HANG_INSIDE, ALLREDUCE, (uint64_t)i, i ? 50 * MS : 0);
		look(job);
	}
}

static struct pace_report report_of(struct job *job)
{
	struct pace_report report;

	pace_report(job->pace, &report);
	return report;
}

/* Look on until the answer is not `kind`; returns how long nobody had moved then. */
static double wait_while(struct job *job, enum pace_kind kind, double max_seconds)
{
	uint64_t start = job->now;

	while (report_of(job).kind == kind && job->now - start < SECONDS(max_seconds))
		look(job);
	return (double)(job->now - start) / 1e9;
}

static void test_moving(void **state)
{
	struct job job = start_job(0);

	(void)state;
	look(&job);
	for (int i = 0; i < 60; i++) {
		iterate(&job, 1);
		assert_int_equal(report_of(&job).kind, PACE_MOVING);
	}
	pace_destroy(job.pace);
	pace_destroy(NULL);
}

/* Rank 2 loops for ever where it was for 60 ms at most, the others wait for it. */
static void test_endless_loop(void **state)
{
	struct job job = start_job(0);
	struct pace_report report;

	(void)state;
	iterate(&job, 60);
	enter(&job, 2, HANG_OUTSIDE, COMPUTE, 600, 60 * MS);
	assert_in_range(wait_while(&job, PACE_MOVING, 100) * 10, 29, 31);
	report = report_of(&job);
	assert_int_equal(report.kind, PACE_HANG);
	assert_int_equal(report.rank, 2);
	assert_int_equal(report.longest_ns, 60 * MS);
	assert_true(report.stay_ns >= report.needed_ns);
	assert_true(report.chance <= 0.001);
	pace_destroy(job.pace);
}

/* Rank 2 loops, and rank 1 polls for what it sends, but gets no processor now and then. */
static void test_starved_poller(void **state)
{
	struct job job = start_job(0);
	int num_looks = 0;

	(void)state;
	iterate(&job, 60);
	enter(&job, 2, HANG_OUTSIDE, COMPUTE, 600, 60 * MS);
	enter(&job, 1, HANG_INSIDE, COMPUTE, 600, 60 * MS);
	do {
		job.looks[1].look = num_looks / 12 % 2 ? HANG_OUTSIDE : HANG_INSIDE;
		look(&job);
	} while (report_of(&job).kind == PACE_MOVING && ++num_looks < 200);
	assert_in_range(num_looks, 59, 61);
	assert_int_equal(report_of(&job).kind, PACE_HANG);
	pace_destroy(job.pace);
}

/* Rank 2 computes for up to two seconds between polls in a place that it mostly left at once, so
 * that it makes no transition; then for ever. */
static void test_computing_between_polls(void **state)
{
	struct job job = start_job(0);

	(void)state;
	iterate(&job, 60);
	enter(&job, 2, HANG_OUTSIDE, COMPUTE, 600, 60 * MS);
	for (int i = 0; i < 10; i++) {
		job.looks[2].stay_ns = 0;
		for (int gap = 0; gap < 2000; gap += 50) {
			look(&job);
			assert_int_not_equal(report_of(&job).kind, PACE_HANG);
		}
		job.looks[2].longest_ns = SECONDS(2);
	}
	while (job.looks[2].stay_ns < SECONDS(60) && report_of(&job).kind != PACE_HANG)
		look(&job);
	assert_int_equal(report_of(&job).kind, PACE_HANG);
	assert_int_equal(report_of(&job).longest_ns, SECONDS(2));
	assert_in_range(report_of(&job).stay_ns, SECONDS(4), SECONDS(30));
	pace_destroy(job.pace);
}

/* The same rank was there for 3 s once, in the 10 minutes before watching: nobody has ever stood
 * still for long since, so that it is a hang when it is far longer than that. */
static void test_longer_history(void **state)
{
	struct job job = start_job(SECONDS(600));
	struct pace_report report;

	(void)state;
	iterate(&job, 60);
	enter(&job, 2, HANG_OUTSIDE, COMPUTE, 6000, SECONDS(3));
	wait_while(&job, PACE_MOVING, 100);
	report = report_of(&job);
	assert_int_equal(report.kind, PACE_STILL);
	assert_int_equal(report.longest_ns, SECONDS(3));
	assert_int_equal(report.needed_ns, SECONDS(9));
	wait_while(&job, PACE_STILL, 400);
	assert_int_equal(report_of(&job).kind, PACE_HANG);
	pace_destroy(job.pace);
}

/* A message that never comes: nobody outside. */
static void test_lost_message(void **state)
{
	struct job job = start_job(0);

	(void)state;
	iterate(&job, 60);
	look(&job);
	wait_while(&job, PACE_MOVING, 100);
	assert_true(wait_while(&job, PACE_STILL, 100) < 3);
	assert_int_equal(report_of(&job).kind, PACE_HANG);
	assert_int_equal(report_of(&job).rank, -1);
	pace_destroy(job.pace);
}

/* The same in a barrier that nobody has ever left. */
static void test_novel_call(void **state)
{
	struct job job = start_job(0);

	(void)state;
	iterate(&job, 60);
	for (int r = 0; r < RANKS; r++)
		enter(&job, r, HANG_INSIDE, BARRIER, 0, 0);
	wait_while(&job, PACE_MOVING, 100);
	assert_in_range(wait_while(&job, PACE_STILL, 100), 17, 20);
	assert_int_equal(report_of(&job).kind, PACE_HANG);
	pace_destroy(job.pace);
}

/* A first phase: the longer proof. Also of a call that works by itself. */
/* Once nobody was outside MPI for long, on a machine that was busy with something else. That
 * makes one wait longer to be sure of the next time, but not for ever. */
static void test_once_long(void **state)
{
	struct job job = start_job(0);

	(void)state;
	iterate(&job, 20);
	for (int i = 0; i < 15 * 20; i++)
		look(&job);
	iterate(&job, 5);
	assert_in_range(wait_while(&job, PACE_MOVING, 10), 2, 4);
	assert_in_range(wait_while(&job, PACE_STILL, 2000), 30, 601);
	assert_int_equal(report_of(&job).kind, PACE_HANG);
	pace_destroy(job.pace);
}

static void test_first_phase(void **state)
{
	static const enum hang_look where[] = {HANG_OUTSIDE, HANG_INSIDE};

	(void)state;
	for (size_t i = 0; i < NUM_OF(where); i++) {
		struct job job = start_job(0);

		iterate(&job, 60);
		enter(&job, 0, where[i], LATER, 0, 0);
		job.looks[0].may_last = where[i] == HANG_INSIDE;
		wait_while(&job, PACE_MOVING, 100);
		assert_int_equal(report_of(&job).needed_ns, SECONDS(600));
		assert_true(isinf(report_of(&job).chance));
		assert_in_range(wait_while(&job, PACE_STILL, 1000), 596, 600);
		assert_int_equal(report_of(&job).kind, PACE_HANG);
		pace_destroy(job.pace);
	}
}

/* A place that ranks have left a few times says that, and that is all: it may have been luck. As
 * soon as others' stays are told of, too, it is known. */
static void test_few_stays(void **state)
{
	struct job job = start_job(0);

	(void)state;
	iterate(&job, 60);
	enter(&job, 0, HANG_OUTSIDE, LATER, 3, MS);
	wait_while(&job, PACE_MOVING, 100);
	assert_int_equal(report_of(&job).num_stays, 3);
	assert_int_equal(report_of(&job).longest_ns, MS);
	assert_int_equal(report_of(&job).needed_ns, SECONDS(600));
	job.looks[0].num_stays = 12;
	look(&job);
	assert_true(report_of(&job).needed_ns < SECONDS(10));
	assert_int_equal(report_of(&job).num_stays, 12);
	wait_while(&job, PACE_STILL, 100);
	assert_int_equal(report_of(&job).kind, PACE_HANG);
	pace_destroy(job.pace);
}

/* Rank 0 writes a file for ten minutes, then no more. */
static void test_serial_phase(void **state)
{
	struct job job = start_job(0);

	(void)state;
	iterate(&job, 60);
	enter(&job, 0, HANG_OUTSIDE, COMPUTE, 600, 60 * MS);
	for (int i = 0; i < 12000; i++) {
		job.looks[0].work += i % 20 == 0;
		look(&job);
		assert_in_range(report_of(&job).kind, PACE_MOVING, PACE_WORKING);
	}
	assert_int_equal(report_of(&job).kind, PACE_WORKING);
	wait_while(&job, PACE_WORKING, 100);
	wait_while(&job, PACE_STILL, 100);
	assert_int_equal(report_of(&job).kind, PACE_HANG);
	assert_true(report_of(&job).stay_ns < SECONDS(10));
	pace_destroy(job.pace);
}

/* New call paths are work; those of a loop over 40 functions are none once all were seen. */
static void test_stacks(void **state)
{
	struct job job = start_job(0);

	(void)state;
	iterate(&job, 60);
	enter(&job, 3, HANG_OUTSIDE, COMPUTE, 600, 60 * MS);
	for (uint64_t i = 1; i <= 1000; i++) {
		job.looks[3].stack = i / 10 + 1;
		look(&job);
		assert_int_not_equal(report_of(&job).kind, PACE_HANG);
	}
	assert_int_equal(report_of(&job).kind, PACE_WORKING);
	for (uint64_t i = 1; i <= 200; i++) {
		job.looks[3].stack = 1000 + i % 40;
		look(&job);
	}
	assert_int_equal(report_of(&job).kind, PACE_HANG);
	pace_destroy(job.pace);
}

/* The work of one that waits in MPI is the library's. */
static void test_work_inside(void **state)
{
	struct job job = start_job(0);

	(void)state;
	iterate(&job, 60);
	for (int i = 0; i < 200; i++) {
		job.looks[1].work++;
		job.looks[1].stack++;
		look(&job);
	}
	assert_int_equal(report_of(&job).kind, PACE_HANG);
	pace_destroy(job.pace);
}

/* A clock set back or far ahead, a watcher stopped for an hour: a second each, at most. */
static void test_clock(void **state)
{
	struct job job = start_job(0);

	(void)state;
	iterate(&job, 60);
	pace_add(job.pace, job.now - SECONDS(1000), job.looks);
	assert_int_equal(report_of(&job).kind, PACE_MOVING);
	pace_add(job.pace, job.now + SECONDS(3600), job.looks);
	assert_int_equal(report_of(&job).kind, PACE_MOVING);
	job.now += SECONDS(3600);
	look(&job);
	assert_int_equal(report_of(&job).kind, PACE_MOVING);
	iterate(&job, 1);
	pace_destroy(job.pace);
}

/* Job and watcher are suspended for an hour in the midst of a phase of 10 s, which goes on to its
 * end then. By the rank's clock it has lasted for that hour, too. */
static void test_suspended(void **state)
{
	struct job job = start_job(SECONDS(3600));

	(void)state;
	iterate(&job, 60);
	enter(&job, 2, HANG_OUTSIDE, LATER, 1000, SECONDS(10));
	for (int i = 0; i < 5 * 20; i++)
		look(&job);
	job.now += SECONDS(3600);
	for (int r = 0; r < RANKS; r++)
		job.looks[r].stay_ns += SECONDS(3600);
	for (int i = 0; i < 5 * 20; i++) {
		look(&job);
		assert_int_not_equal(report_of(&job).kind, PACE_HANG);
		assert_true(report_of(&job).stay_ns < SECONDS(12));
	}
	iterate(&job, 1);
	assert_int_equal(report_of(&job).kind, PACE_MOVING);
	pace_destroy(job.pace);
}

/* Attached to a job that hangs already: the recorder knows what was before. */
static void test_hung_already(void **state)
{
	struct job job = start_job(SECONDS(600));

	(void)state;
	for (int r = 0; r < RANKS; r++) {
		enter(&job, r, r == 1 ? HANG_OUTSIDE : HANG_INSIDE, r == 1 ? COMPUTE : ALLREDUCE,
		      6000, 80 * MS);
		job.looks[r].stay_ns = SECONDS(100);
	}
	look(&job);
	assert_in_range(wait_while(&job, PACE_MOVING, 100) * 10, 29, 31);
	assert_int_equal(report_of(&job).kind, PACE_HANG);
	assert_int_equal(report_of(&job).rank, 1);
	pace_destroy(job.pace);
}

/* Start and end: ranks nothing is known of. */
static void test_unknown(void **state)
{
	struct job job = start_job(0);

	(void)state;
	for (int r = 0; r < RANKS; r++)
		job.looks[r].look = HANG_UNKNOWN;
	for (int i = 0; i < 1000; i++)
		look(&job);
	assert_int_equal(report_of(&job).kind, PACE_UNKNOWN);
	pace_destroy(job.pace);
}

static void test_refusals(void **state)
{
	struct pace_settings settings = {
		.num_ranks = RANKS, .alpha = 0.001, .proof_ns = 600 * (uint64_t)1000000000};
	struct pdb_error err;

	(void)state;
	settings.num_ranks = 0;
	assert_null(pace_create(&settings, 0, &err));
	assert_error(&err, ERROR_USAGE, "no ranks");
	settings.num_ranks = 1;
	settings.alpha = NAN;
	assert_null(pace_create(&settings, 0, &err));
	assert_error(&err, ERROR_USAGE, "alpha");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moving),
		cmocka_unit_test(test_endless_loop),
		cmocka_unit_test(test_starved_poller),
		cmocka_unit_test(test_longer_history),
		cmocka_unit_test(test_lost_message),
		cmocka_unit_test(test_novel_call),
		cmocka_unit_test(test_first_phase),
		cmocka_unit_test(test_few_stays),
		cmocka_unit_test(test_serial_phase),
		cmocka_unit_test(test_computing_between_polls),
		cmocka_unit_test(test_once_long),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_work_inside),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_suspended),
		cmocka_unit_test(test_hung_already),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
