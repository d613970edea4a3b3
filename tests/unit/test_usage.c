/* SPDX-License-Identifier: BSD-3-Clause
 * What ranks use: files as kernels write them, this process itself, and there and back in a
 * share. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/process/procfs.h"
#include "attach/usage/usage_take.h"
#include "attach/usage/usage_text.h"
#include "model/buffer.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/usage.h"
#include "model/monotonic.h"
#include "model/wire/share.h"
#include "model/xalloc.h"

/* ---- Files ---- */

static void test_schedstat(void **state)
{
	static const struct {
		const char *text;
		bool is_there;
		uint64_t ran, queued;
	} cases[] = {
		{"981203344 50675 1\n", true, 981203344, 50675},
		{"0 0 0\n", true, 0, 0},
		{"18446744073709551615 18446744073709551615 9\n", true, UINT64_MAX, UINT64_MAX},
		{"", false, 0, 0},
		{"12\n", false, 0, 0},
		{"x y z\n", false, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ran = 0, queued = 0;

		assert_int_equal(usage_text_schedstat(cases[i].text, &ran, &queued),
				 cases[i].is_there);
		if (cases[i].is_there) {
			assert_int_equal(ran, cases[i].ran);
			assert_int_equal(queued, cases[i].queued);
		}
	}
}

static void test_allowed(void **state)
{
	static const struct {
		const char *text, *allowed;
	} cases[] = {
		{"Name:\tlmp\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\nMems_allowed:\t1\n",
		 "0-1"},
		{"Cpus_allowed_list:\t0,2-3,64\n", "0,2-3,64"},
		{"Cpus_allowed_list:\t\n", ""},
		{"Cpus_allowed_list:\t7-3\n", ""},
		{"Cpus_allowed_list:\t99999999999\n", ""},
		{"Name:\tx\n", ""},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rankset *set = usage_text_allowed(cases[i].text);
		char *text = rankset_encode(set, 0);

		assert_string_equal(text, cases[i].allowed);
		free(text);
		rankset_destroy(set);
	}
}

/* /proc/stat of 5.14, 6.1 and 6.12 has the same shape; some virtual machines leave steal out. */
static void test_stat(void **state)
{
	static const struct {
		const char *text;
		uint64_t steal;
		uint32_t num;
	} cases[] = {
		{"cpu  211 5 97 8123 44 0 6 73 0 0\n"
		 "cpu0 100 3 50 4000 22 0 3 40 0 0\n"
		 "cpu1 111 2 47 4123 22 0 3 33 0 0\n"
		 "intr 12345 0 0\nctxt 4242\nbtime 1700000000\n",
		 73, 2},
		{"cpu  1 2 3 4 5 6 7\ncpu0 1 2 3 4 5 6 7\n", 0, 1},
		{"intr 5\n", 0, 0},
		{"", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t steal;
		uint32_t num;

		usage_text_stat(cases[i].text, &steal, &num);
		assert_int_equal(steal, cases[i].steal);
		assert_int_equal(num, cases[i].num);
	}
}

static void test_numbers(void **state)
{
	/* cpu.stat of version 2, and of version 1 of 5.14 and of later ones. */
	static const char v2[] = "usage_usec 93214\nuser_usec 80000\nsystem_usec 13214\n"
				 "nr_periods 20\nnr_throttled 18\nthrottled_usec 900123\n"
				 "nr_bursts 0\nburst_usec 0\n";
	static const char v1[] = "nr_periods 20\nnr_throttled 7\nthrottled_time 350000000\n";

	(void)state;
	assert_int_equal(usage_text_number(v2, "nr_periods "), 20);
	assert_int_equal(usage_text_number(v2, "nr_throttled "), 18);
	assert_int_equal(usage_text_number(v1, "nr_throttled "), 7);
	assert_int_equal(usage_text_number(v1, "throttled "), 0);
	assert_int_equal(usage_text_number("nr_free_pages 5\npswpin 77\npswpout 3", "pswpin "), 77);
	assert_int_equal(usage_text_number("", "pswpin "), 0);
	assert_int_equal(usage_text_cpu_max("max 100000\n"), 0);
	assert_int_equal(usage_text_cpu_max("50000 100000\n"), 50);
	assert_int_equal(usage_text_cpu_max("150000 100000\n"), 150);
	assert_int_equal(usage_text_cpu_max("5 0\n"), 0);
	assert_int_equal(usage_text_cpu_max(""), 0);
}

static void test_group(void **state)
{
	static const char both[] = "9:name=systemd:/\n4:memory:/job\n3:cpuset:/sets\n"
				   "2:cpu,cpuacct:/job/step_0\n0::/unified\n";
	static const struct {
		const char *text;
		bool is_v1, is_there;
		const char *path;
	} cases[] = {
		{both, true, true, "/job/step_0"},
		{both, false, true, "/unified"},
		{"0::/system.slice/slurmstepd.scope/job_1/step_0\n", false, true,
		 "/system.slice/slurmstepd.scope/job_1/step_0"},
		{"0::/system.slice/slurmstepd.scope/job_1/step_0\n", true, false, ""},
		{"3:cpuset:/sets\n", true, false, ""},
		{"1:cpu:/\n", true, true, "/"},
		{"0::/x:y\n", false, true, "/x:y"},
		{"rubbish\n\n:\n", false, false, ""},
		{"", false, false, ""},
	};
	char path[64], small[4];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			usage_text_group(cases[i].text, cases[i].is_v1, path, sizeof(path)),
			cases[i].is_there);
		if (cases[i].is_there)
			assert_string_equal(path, cases[i].path);
	}
	assert_false(usage_text_group(both, true, small, sizeof(small)));
}

/* ---- This process ---- */

static void test_self(void **state)
{
	struct proctable *table = proctable_create();
	struct usage_reading *reading;
	const struct usage_rank *rank;
	const struct usage_node *node;
	struct procfs_stat before, now;
	volatile double sum = 1;
	struct usage *usage;
	char host[256];

	(void)state;
	assert_int_equal(gethostname(host, sizeof(host)), 0);
	assert_int_equal(procfs_stat(getpid(), 0, &before), 0);
	assert_in_range(before.processor, 0, USAGE_MAX_PROCESSORS);
	proctable_add(table, 3, getpid(), host, "test");
	assert_int_equal(proctable_finish(table, NULL), 0);
	reading = usage_take_begin(table);
	do {
		for (int i = 0; i < 1000000; i++)
			sum = sum * 1.0000001;
		assert_int_equal(procfs_stat(getpid(), 0, &now), 0);
	} while (now.cpu_ticks < before.cpu_ticks + 5);
	usage = usage_take_end(reading);
	assert_int_equal(usage->num_ranks, 1);
	assert_int_equal(usage->num_nodes, 1);
	rank = usage_find(usage, 3);
	assert_non_null(rank);
	assert_true(rank->process_ns >= 40000000);
	assert_true(rank->interval_ns >= 40000000);
	assert_false(rankset_is_empty(rank->allowed));
	if (rank->has_queue) {
		assert_true(rank->ran_ns >= 30000000);
		assert_true(rank->ran_ns <= rank->interval_ns + 10000000);
	}
	assert_null(usage_find(usage, 2));
	node = usage_node(usage, rank);
	assert_non_null(node);
	assert_true(node->num_processors > 0);
	for (size_t i = 0; i < node->num_others; i++)
		assert_int_not_equal(node->others[i].pid, getpid());
	usage_destroy(usage);
	proctable_destroy(table);
	assert_null(usage_take_end(NULL));
	usage_take_destroy(NULL);
}

/* ---- There and back ---- */

static struct job *make_job(void)
{
	struct job *job = job_create();

	job->usage = usage_create();
	for (int r = 0; r < 4; r++) {
		struct usage_rank rank = {
			.rank = r,
			.node_rank = r & ~1,
			.interval_ns = 1000000000,
			.has_queue = true,
			.ran_ns = 7,
			.queued_ns = 8,
			.process_ns = 9,
			.major_faults = 10,
			.block_ns = 11,
			.allowed = rankset_create(),
			.khz = 12,
			.group = r == 2 ? xstrdup("/job") : NULL,
			.periods = 13,
			.throttled = 14,
			.quota_percent = 15,
		};

		rankset_add_range(rank.allowed, r, r + 1);
		usage_add_rank(job->usage, &rank);
		if (r % 2 == 0) {
			struct usage_node node = {.rank = r, .num_processors = 2, .num_others = 1};

			node.others[0] = (struct usage_process){
				.pid = 812,
				.name = "stress",
				.ran_ns = 5,
				.processors = rankset_create(),
			};
			rankset_add(node.others[0].processors, 1);
			usage_add_node(job->usage, &node);
		}
	}
	return job;
}

static struct job *send_and_take(const struct job *job)
{
	/* As from two nodes. */
	struct share *both = share_create();
	struct job *again = job_create();

	for (int first = 0; first < 4; first += 2) {
		struct rankset *ranks = rankset_create();
		struct share *share = share_create(), *taken;
		struct buffer bytes = {.bytes = NULL};

		rankset_add_range(ranks, first, first + 1);
		share_fill(share, job, ranks, SHARE_ANSWERS);
		assert_int_equal(share_encode(share, &bytes, NULL), 0);
		assert_int_equal(share_decode(bytes.bytes, bytes.num, 4, &taken, NULL), 0);
		assert_int_equal(share_merge(both, taken, NULL), 0);
		share_destroy(taken);
		share_destroy(share);
		rankset_destroy(ranks);
		free(bytes.bytes);
	}
	assert_int_equal(share_to_job(both, again, NULL), 0);
	share_destroy(both);
	return again;
}

static void test_share(void **state)
{
	struct job *job = make_job(), *again = send_and_take(job);
	const struct usage_rank *rank;

	(void)state;
	assert_int_equal(again->usage->num_ranks, 4);
	assert_int_equal(again->usage->num_nodes, 2);
	for (int r = 0; r < 4; r++) {
		const struct usage_rank *old = usage_find(job->usage, r);

		rank = usage_find(again->usage, r);
		assert_non_null(rank);
		assert_int_equal(rank->node_rank, old->node_rank);
		assert_int_equal(rank->ran_ns, 7);
		assert_int_equal(rank->quota_percent, 15);
		assert_true(rankset_equal(rank->allowed, old->allowed));
		assert_int_equal(usage_node(again->usage, rank)->rank, r & ~1);
	}
	assert_string_equal(usage_find(again->usage, 2)->group, "/job");
	assert_null(usage_find(again->usage, 1)->group);
	assert_string_equal(again->usage->nodes[1].others[0].name, "stress");
	job_destroy(again);
	job_destroy(job);
	/* Nothing was measured. */
	job = job_create();
	again = send_and_take(job);
	assert_null(again->usage);
	job_destroy(again);
	job_destroy(job);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schedstat), cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_stat),      cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_group),     cmocka_unit_test(test_self),
		cmocka_unit_test(test_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
