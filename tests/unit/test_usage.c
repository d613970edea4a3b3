/* SPDX-License-Identifier: BSD-3-Clause
 * What ranks use: files as kernels write them, this process itself, and there and back in a
 * share. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/process/maps.h"
#include "attach/process/procfs.h"
#include "attach/usage/usage_memory.h"
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

/* ---- NUMA nodes ---- */

/* A folder like /sys/devices/system/node. NULL: the file is not there. */
struct numa_files {
	const char *has_memory, *cpulist[3];
};

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = text ? fopen(path, "w") : NULL;
	if (!text)
		return;
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static struct usage_numa *read_numa(const struct numa_files *files)
{
	char folder[] = "/tmp/pdb-test-numa-XXXXXX", name[64];
	struct usage_numa *numa;

	assert_non_null(mkdtemp(folder));
	write_file(folder, "has_memory", files->has_memory);
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s/node%d", folder, i);
		assert_int_equal(mkdir(name, 0700), 0);
		write_file(name, "cpulist", files->cpulist[i]);
	}
	numa = usage_numa_read(folder);
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s/node%d/cpulist", folder, i);
		unlink(name);
		snprintf(name, sizeof(name), "%s/node%d", folder, i);
		rmdir(name);
	}
	snprintf(name, sizeof(name), "%s/has_memory", folder);
	unlink(name);
	assert_int_equal(rmdir(folder), 0);
	return numa;
}

static void test_numa(void **state)
{
	static const struct {
		const char *what;
		struct numa_files files;
		bool is_there;
		int of_0, of_5, of_9; /* nodes of these processors */
	} cases[] = {
		{"two", {"0-1\n", {"0-3,8-11\n", "4-7,12-15\n", NULL}}, true, 0, 1, 0},
		{"one", {"0\n", {"0-15\n", NULL, NULL}}, false, 0, 0, 0},
		{"one has no memory", {"0\n", {"0-3\n", "4-7\n", NULL}}, false, 0, 0, 0},
		{"fast memory alone", {"0,2\n", {"0-7\n", NULL, "\n"}}, false, 0, 0, 0},
		{"two and fast memory", {"0-2\n", {"0-4\n", "5-7\n", "\n"}}, true, 0, 1, -1},
		{"a gap", {"0,2\n", {"0\n", NULL, "5\n"}}, true, 0, 2, -1},
		{"nothing", {NULL, {NULL, NULL, NULL}}, false, 0, 0, 0},
		{"rubbish", {"x-y\n", {"0\n", "1\n", "2\n"}}, false, 0, 0, 0},
		{"many", {"0-99999999\n", {"0\n", "1\n", "2\n"}}, false, 0, 0, 0},
		{"bad processors", {"0-1\n", {"0\n", "1-\n", NULL}}, false, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct usage_numa *numa = read_numa(&cases[i].files);

		print_message("%s\n", cases[i].what);
		assert_int_equal(numa != NULL, cases[i].is_there);
		if (numa) {
			assert_int_equal(usage_numa_of(numa, 0), cases[i].of_0);
			assert_int_equal(usage_numa_of(numa, 5), cases[i].of_5);
			assert_int_equal(usage_numa_of(numa, 9), cases[i].of_9);
			assert_int_equal(usage_numa_of(numa, -1), -1);
		}
		usage_numa_destroy(numa);
	}
	usage_numa_destroy(NULL);
}

static void test_count_pages(void **state)
{
	static const struct numa_files files = {"0-2\n", {"0-3\n", "4-7\n", "8-11\n"}};
	/* -2 and -14: no memory there, and the page of zeros. 7: a node that came later. */
	static const int nodes[] = {0, 1, 1, -2, 2, 0, 1, -14, 7};
	struct usage_numa *numa = read_numa(&files);
	struct usage_rank rank = {.rank = 0};

	(void)state;
	usage_memory_count(numa, 0, nodes, NUM_OF(nodes), &rank);
	assert_int_equal(rank.num_pages, 7);
	assert_int_equal(rank.num_far, 4);
	assert_int_equal(rank.own_node, 0);
	assert_int_equal(rank.far_node, 1);
	usage_memory_count(numa, 1, nodes, NUM_OF(nodes), &rank);
	assert_int_equal(rank.num_far, 3);
	assert_int_equal(rank.far_node, 0);
	usage_memory_count(numa, 1, nodes, 0, &rank);
	assert_int_equal(rank.num_pages, 0);
	usage_numa_destroy(numa);
}

/* A program's mappings: only its own writable memory is asked for, by its size. */
static void test_choose_pages(void **state)
{
	static const char small[] = "00400000-00402000 r-xp 00000000 fe:00 12 /bin/x\n"
				    "00402000-00405000 rw-p 00002000 fe:00 12 /bin/x\n"
				    "7f0000000000-7f0000100000 rw-s 00000000 00:01 9 /dev/shm/x\n"
				    "7f0000200000-7f0000201000 rw-p 00000000 00:00 0\n";
	static const char large[] = "00402000-00502000 rw-p 00002000 fe:00 12 /bin/x\n"
				    "7f0000000000-7f0000300000 rw-p 00000000 00:00 0\n"
				    "7f0000400000-7f0000401000 ---p 00000000 00:00 0\n";
	static const char all[] = "00001000-fffffffffffff000 rw-p 00000000 00:00 0\n";
	static const struct {
		const char *text;
		size_t num, below; /* of these, addresses below 7f... */
		uint64_t last;
	} cases[] = {
		{small, 4, 3, 0x7f0000200000},
		{large, 256, 64, 0x7f00002fc000},
		{all, 256, 0, 0},
		{"", 0, 0, 0},
	};
	uint64_t addresses[USAGE_MAX_PAGES];

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		char *text = xstrdup(cases[i].text);
		struct maps *maps = maps_parse(text);
		size_t num = usage_memory_choose(maps, 4096, addresses), below = 0;

		assert_int_equal(num, cases[i].num);
		for (size_t k = 0; k < num; k++) {
			below += addresses[k] < 0x7f0000000000;
			assert_int_equal(addresses[k] % 4096, 0);
			assert_true(k == 0 || addresses[k] > addresses[k - 1]);
			assert_true(maps_find(maps, addresses[k])->is_writable);
		}
		if (cases[i].last) {
			assert_int_equal(below, cases[i].below);
			assert_int_equal(addresses[num - 1], cases[i].last);
		}
		maps_destroy(maps);
		free(text);
	}
}

/* ---- This process ---- */

static void test_own_pages(void **state)
{
	static const struct numa_files files = {"0-1\n", {"0-3\n", "4-7\n", NULL}};
	struct usage_numa *numa = read_numa(&files);
	struct usage_rank rank = {.num_pages = 0};
	int nodes[2];
	size_t size = 64 << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t addresses[2] = {(uint64_t)(uintptr_t)memory, 0};

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	addresses[1] = addresses[0] + size / 2;
	madvise(memory, size, MADV_NOHUGEPAGE);
	memory[0] = 1;
	if (usage_memory_ask(getpid(), addresses, 2, nodes) < 0) {
		/* A container may forbid it; then nothing is known. */
		assert_true(errno == EPERM || errno == ENOSYS);
		usage_memory_take(numa, getpid(), 0, &rank);
		assert_int_equal(rank.num_pages, 0);
	} else {
		assert_true(nodes[0] >= 0);
		assert_true(nodes[1] < 0);
		memset(memory, 1, size);
		usage_memory_take(numa, getpid(), nodes[0], &rank);
#ifndef __SANITIZE_ADDRESS__
		/* Nearly all of this process is that memory. */
		assert_in_range(rank.num_pages, 128, USAGE_MAX_PAGES);
#endif
		assert_int_equal(rank.own_node, rank.num_pages ? nodes[0] : 0);
		if (access("/sys/devices/system/node/node1", F_OK) < 0)
			assert_int_equal(rank.num_far, 0);
	}
	munmap(memory, size);
	assert_int_equal(usage_memory_ask(getpid(), addresses, USAGE_MAX_PAGES + 1, nodes), -1);
	assert_int_equal(usage_memory_ask(INT_MAX, addresses, 1, nodes), -1);
	usage_numa_destroy(numa);
}

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
	/* Another process may have the pid of one that has ended. */
	proctable_add_ended(table, 4, getpid(), host);
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
			.num_pages = r == 1 ? 200 : 0,
			.num_far = r == 1 ? 150 : 0,
			.own_node = r == 1 ? 4 : 0,
			.far_node = r == 1 ? 3 : 0,
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
		assert_int_equal(rank->num_pages, old->num_pages);
		assert_int_equal(rank->num_far, old->num_far);
		assert_int_equal(rank->own_node, old->own_node);
		assert_int_equal(rank->far_node, old->far_node);
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
		cmocka_unit_test(test_schedstat),    cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_stat),         cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_group),        cmocka_unit_test(test_self),
		cmocka_unit_test(test_share),        cmocka_unit_test(test_numa),
		cmocka_unit_test(test_own_pages),    cmocka_unit_test(test_count_pages),
		cmocka_unit_test(test_choose_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
