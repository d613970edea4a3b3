/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/job/callpath.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/rankset.h"
#include "tests/fixtures/segment_writer.h"
#include "tests/unit/unit.h"

struct fixture {
	struct modules *modules;
	struct callpaths *paths;
	struct job_model *jm;
};

static int setup(void **state)
{
	static struct fixture fix;

	fix.modules = modules_create();
	fix.paths = callpaths_create();
	fix.jm = job_model_create(fix.modules, fix.paths);
	*state = &fix;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fix = *state;

	job_model_destroy(fix->jm);
	callpaths_destroy(fix->paths);
	modules_destroy(fix->modules);
	return 0;
}

/* A rank whose program is `program`: start-up code, and in main a call site for each address. */
struct rank {
	struct segment_writer *w;
	uint32_t libc, app, start;
	uint64_t ns;
};

static struct rank make_rank(const char *program)
{
	struct rank rank = {.w = segment_writer_create(0, 8), .ns = 10};

	snprintf(rank.w->header.executable, sizeof(rank.w->header.executable), "%s", program);
	rank.libc = segment_writer_module(rank.w, "/lib/libc.so.6");
	rank.app = segment_writer_module(rank.w, program);
	rank.start = segment_writer_frame(rank.w, SEG_NO_FRAME, rank.libc, 0x271ca);
	return rank;
}

static uint32_t main_site(struct rank *rank, uint64_t address, const char *name)
{
	uint32_t frame = segment_writer_frame(rank->w, rank->start, rank->app, address);

	return segment_writer_site(rank->w, frame, name, SEG_CLASS_SEND);
}

/* A site in function `function` (a return address in it) that a thread was started with. */
static uint32_t thread_site(struct rank *rank, uint64_t function, uint64_t address)
{
	uint32_t clone = segment_writer_frame(rank->w, SEG_NO_FRAME, rank->libc, 0x1000);
	uint32_t frame = segment_writer_frame(rank->w, clone, rank->app, function);

	if (address)
		frame = segment_writer_frame(rank->w, frame, rank->app, address);
	return segment_writer_site(rank->w, frame, "MPI_Recv", SEG_CLASS_RECV);
}

static void call(struct rank *rank, uint32_t lane, uint32_t site, uint64_t times)
{
	rank->ns = segment_writer_call(rank->w, lane, site, times, rank->ns);
}

static void add(struct fixture *fix, int number, struct rank *rank)
{
	job_model_add(fix->jm, number, segment_writer_model(rank->w), 0);
	segment_writer_destroy(rank->w);
}

static const struct job_transition *find(const struct job_model *jm, uint32_t from, uint32_t to)
{
	size_t index = job_model_find_transition(jm, from, to);

	assert_true(index < jm->num_transitions);
	assert_int_equal(jm->transitions[index].from, from);
	assert_int_equal(jm->transitions[index].to, to);
	return &jm->transitions[index];
}

/* "10:0-1,3 11:2" */
static void assert_counts(const struct job_model *jm, uint32_t from, uint32_t to,
			  const char *expected)
{
	const struct job_transition *transition = find(jm, from, to);
	char text[256] = "";
	size_t length = 0;

	for (size_t i = 0; i < transition->num_counts; i++) {
		char *ranks = rankset_encode(transition->counts[i].ranks, 0);

		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%llu:%s",
					   i ? " " : "",
					   (unsigned long long)transition->counts[i].count, ranks);
		free(ranks);
	}
	assert_string_equal(text, expected);
}

static void test_union(void **state)
{
	struct fixture *fix = *state;
	struct job_model *jm = fix->jm;
	struct rank a = make_rank("/bin/app"), b = make_rank("/bin/app");
	uint32_t send, recv, lane;

	/* The same sites, met in another order; and one that only b has. */
	send = main_site(&a, 0x1100, "MPI_Send");
	recv = main_site(&a, 0x1200, "MPI_Recv");
	lane = segment_writer_lane(a.w, true, 100);
	call(&a, lane, send, 1);
	call(&a, lane, recv, 1);
	add(fix, 0, &a);
	recv = main_site(&b, 0x1200, "MPI_Recv");
	send = main_site(&b, 0x1100, "MPI_Send");
	lane = segment_writer_lane(b.w, true, 200);
	call(&b, lane, send, 1);
	call(&b, lane, recv, 1);
	/* The same place by another function is another site. */
	call(&b, lane, main_site(&b, 0x1200, "MPI_Probe"), 1);
	add(fix, 1, &b);
	job_model_finish(jm);

	assert_int_equal(jm->num_shapes, 2);
	assert_int_equal(jm->num_sites, 4);
	assert_int_equal(job_model_num_states(jm), 8);
	assert_string_equal(jm->sites[0].name, "start");
	assert_int_equal(jm->sites[0].path, CALLPATH_NONE);
	assert_string_equal(jm->sites[1].name, "MPI_Send");
	assert_string_equal(jm->sites[2].name, "MPI_Recv");
	assert_string_equal(jm->sites[3].name, "MPI_Probe");
	assert_int_equal(jm->sites[3].path, jm->sites[2].path);
	assert_int_equal(callpaths_get(fix->paths, jm->sites[1].path)->offset, 0x1100);
	assert_true(callpaths_get(fix->paths, jm->sites[1].path)->is_return);
	/* In the order made, and only once each. */
	assert_int_equal(jm->num_transitions, 6);
	assert_int_equal(jm->transitions[0].from, SEG_STATE_EXIT(0));
	assert_int_equal(jm->transitions[0].to, SEG_STATE_ENTER(1));
	assert_int_equal(jm->transitions[4].from, SEG_STATE_EXIT(2));
	assert_int_equal(jm->transitions[4].to, SEG_STATE_ENTER(3));
	assert_counts(jm, SEG_STATE_ENTER(1), SEG_STATE_EXIT(1), "1:0-1");
	assert_counts(jm, SEG_STATE_EXIT(2), SEG_STATE_ENTER(3), "1:1");
	assert_true(job_model_find_transition(jm, 0, 0) == SIZE_MAX);
	assert_int_equal(jm->num_lanes, 2);
	assert_int_equal(jm->lanes[1].state, SEG_STATE_EXIT(3));
	assert_int_equal(jm->lanes[0].role, 0);
	assert_int_equal(jm->lanes[1].role, 0);
	assert_int_equal(jm->num_roles, 1);
	assert_int_equal(jm->lanes[0].stay_ns,
			 jm->lanes[0].model->now_ns - jm->lanes[0].data->since_ns);
	assert_true(jm->lanes[0].stay_ns > 0);
}

/* Ranks added in any order; counts ascending; ranks of one count together. */
static void test_counts(void **state)
{
	static const struct {
		int rank;
		uint64_t times;
	} table[] = {{5, 10}, {0, 10}, {1, 10}, {2, 12}, {3, 11}, {4, 10}};
	struct fixture *fix = *state;
	struct job_model *jm = fix->jm;

	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct rank rank = make_rank("/bin/app");
		uint32_t site = main_site(&rank, 0x1100, "MPI_Send");

		call(&rank, segment_writer_lane(rank.w, true, 1), site, table[i].times);
		add(fix, table[i].rank, &rank);
	}
	job_model_finish(jm);
	assert_int_equal(jm->num_shapes, 1);
	assert_int_equal(rankset_count(jm->ranks), 6);
	assert_counts(jm, SEG_STATE_ENTER(1), SEG_STATE_EXIT(1), "10:0-1,4-5 11:3 12:2");
	assert_counts(jm, SEG_STATE_EXIT(1), SEG_STATE_ENTER(1), "9:0-1,4-5 10:3 11:2");
	for (int i = 0; i < 6; i++) {
		assert_int_equal(jm->lanes[i].rank, i);
		assert_ptr_equal(jm->lanes[i].site_map, jm->lanes[0].site_map);
		assert_int_equal(jm->lanes[i].role, 0);
	}
}

/* The threads of a rank are summed up. */
static void test_threads_summed(void **state)
{
	struct fixture *fix = *state;
	struct job_model *jm = fix->jm;

	for (int i = 0; i < 2; i++) {
		struct rank rank = make_rank("/bin/app");
		uint32_t site = main_site(&rank, 0x1100, "MPI_Send");

		call(&rank, segment_writer_lane(rank.w, true, 1), site, 3);
		call(&rank, segment_writer_lane(rank.w, false, 2), site, 4 + (uint64_t)i);
		add(fix, i, &rank);
	}
	job_model_finish(jm);
	assert_counts(jm, SEG_STATE_ENTER(1), SEG_STATE_EXIT(1), "7:0 8:1");
}

static void test_example_pid(void **state)
{
	struct fixture *fix = *state;

	for (int i = 0; i < 3; i++) {
		struct rank rank = make_rank("/bin/app");

		main_site(&rank, 0x1100, "MPI_Send");
		job_model_add(fix->jm, i, segment_writer_model(rank.w), i * 1000);
		segment_writer_destroy(rank.w);
	}
	job_model_finish(fix->jm);
	assert_int_equal(modules_count(fix->modules), 2);
	assert_int_equal(modules_get(fix->modules, 1)->example_pid, 1000);
	assert_int_equal(fix->jm->num_lanes, 0);
	assert_int_equal(fix->jm->num_roles, 0);
	assert_int_equal(rankset_count(fix->jm->ranks), 3);
}

/* ---- Roles ---- */

/* Main threads: by the program that they run, whatever of it they have been in. */
static void test_roles_of_programs(void **state)
{
	static const struct {
		const char *program;
		uint64_t address;
		uint32_t role;
	} table[] = {
		{"/bin/ocean", 0x1100, 0}, {"/bin/air", 0x1100, 1}, {"/bin/ocean", 0x1200, 0},
		{"/bin/air", 0x1300, 1},   {"/bin/ocean", 0, 0},
	};
	struct fixture *fix = *state;

	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct rank rank = make_rank(table[i].program);
		uint32_t lane = segment_writer_lane(rank.w, true, 1);

		if (table[i].address)
			call(&rank, lane, main_site(&rank, table[i].address, "MPI_Send"), 1);
		add(fix, (int)i, &rank);
	}
	job_model_finish(fix->jm);
	for (size_t i = 0; i < NUM_OF(table); i++)
		assert_int_equal(fix->jm->lanes[i].role, table[i].role);
	assert_int_equal(fix->jm->num_roles, 2);
}

/* The end of a long path is what the segment keeps of it. */
static void test_role_of_long_path(void **state)
{
	struct fixture *fix = *state;
	char path[400];

	memset(path, 'd', sizeof(path));
	path[0] = path[100] = '/';
	path[sizeof(path) - 1] = '\0';
	for (int i = 0; i < 2; i++) {
		struct rank rank = make_rank(path);
		char *kept = rank.w->header.executable;

		memcpy(kept, path + sizeof(path) - 256, 256);
		/* Called from a library's start-up code first, in one of the ranks. */
		rank.app = i ? segment_writer_module(rank.w, "/lib/libuser.so") : rank.app;
		call(&rank, segment_writer_lane(rank.w, true, 1),
		     main_site(&rank, 0x10, "MPI_Init"), 1);
		add(fix, i, &rank);
	}
	job_model_finish(fix->jm);
	assert_int_equal(fix->jm->num_roles, 1);
}

/* Threads: by start function. 0x5000 and 0x5010 are in one function, as rank 0 shows; 0x6000 is
 * in another. Rank 1 has two threads of the first kind. */
static void test_roles_of_threads(void **state)
{
	struct fixture *fix = *state;
	struct rank a = make_rank("/bin/app"), b = make_rank("/bin/app"), c = make_rank("/bin/app");
	/* By rank and lane: rank 0 first kind, second kind; rank 1 first kind twice, main; rank 2
	 * second, first, main. */
	static const uint32_t expected[] = {1, 2, 1, 3, 0, 2, 1, 0};
	uint32_t lane;

	/* Rank 2 is added first: a main thread and one of each kind. */
	lane = segment_writer_lane(c.w, false, 1);
	call(&c, lane, thread_site(&c, 0x6000, 0), 1);
	lane = segment_writer_lane(c.w, false, 2);
	call(&c, lane, thread_site(&c, 0x5010, 0x7000), 1);
	lane = segment_writer_lane(c.w, true, 3);
	call(&c, lane, main_site(&c, 0x1100, "MPI_Send"), 1);
	add(fix, 2, &c);

	lane = segment_writer_lane(a.w, false, 1);
	call(&a, lane, thread_site(&a, 0x5000, 0x7100), 1);
	call(&a, lane, thread_site(&a, 0x5010, 0x7000), 1);
	lane = segment_writer_lane(a.w, false, 2);
	call(&a, lane, thread_site(&a, 0x6000, 0x7100), 1);
	add(fix, 0, &a);

	lane = segment_writer_lane(b.w, false, 1);
	call(&b, lane, thread_site(&b, 0x5000, 0), 1);
	lane = segment_writer_lane(b.w, false, 2);
	call(&b, lane, thread_site(&b, 0x5010, 0), 1);
	segment_writer_lane(b.w, true, 3);
	add(fix, 1, &b);
	job_model_finish(fix->jm);

	assert_int_equal(fix->jm->num_lanes, NUM_OF(expected));
	for (size_t i = 0; i < NUM_OF(expected); i++)
		assert_int_equal(fix->jm->lanes[i].role, expected[i]);
	assert_int_equal(fix->jm->num_roles, 4);
}

/* ---- Size ---- */

/* 16,384 ranks of one shape: 80 sites below 10 functions, 160 transitions. */
static void test_many_ranks(void **state)
{
	enum { RANKS = 16384, SITES = 80 };
	struct fixture *fix = *state;
	struct rank rank = make_rank("/bin/app");
	struct model **models = calloc(RANKS, sizeof(*models));
	uint32_t lane = segment_writer_lane(rank.w, true, 1);
	uint32_t sites[SITES];

	for (uint32_t i = 0; i < SITES; i++) {
		uint32_t outer = segment_writer_frame(rank.w, rank.start, rank.app, i / 8);
		char name[32];

		snprintf(name, sizeof(name), "MPI_Function_%u", i % 20);
		sites[i] = segment_writer_site(
			rank.w, segment_writer_frame(rank.w, outer, rank.app, 0x1000 + i), name,
			SEG_CLASS_SEND);
	}
	for (int round = 0; round < 50; round++) {
		for (uint32_t i = 0; i < SITES; i++)
			call(&rank, lane, sites[i], 1);
	}
	for (int i = 0; i < RANKS; i++) {
		/* A few ranks are an iteration ahead. */
		if (i == RANKS - 5) {
			for (uint32_t j = 0; j < SITES; j++)
				call(&rank, lane, sites[j], 1);
		}
		models[i] = segment_writer_model(rank.w);
	}
	for (int i = 0; i < RANKS; i++)
		job_model_add(fix->jm, i, models[i], 0);
	job_model_finish(fix->jm);
	assert_int_equal(fix->jm->num_shapes, 1);
	assert_counts(fix->jm, SEG_STATE_ENTER(1), SEG_STATE_EXIT(1), "50:0-16378 51:16379-16383");
	segment_writer_destroy(rank.w);
	free(models);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_union, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads_summed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_example_pid, setup, teardown),
		cmocka_unit_test_setup_teardown(test_roles_of_programs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_role_of_long_path, setup, teardown),
		cmocka_unit_test_setup_teardown(test_roles_of_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_ranks, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
