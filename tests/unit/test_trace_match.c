/* SPDX-License-Identifier: BSD-3-Clause
 * Calls of two builds that are the same, and traces of two runs in one set. */
#include <regex.h>

#include "analysis/traces/trace_runs.h"
#include "tests/unit/with_arena.h"
#include "tests/unit/traced_run.h"

#define SEND "MPI_Send", SEG_CLASS_SEND
#define RECV "MPI_Recv", SEG_CLASS_RECV
#define END                                                                                        \
	{                                                                                          \
		NULL, NULL, 0                                                                      \
	}

enum { MOST = 8 };

/* `same`: for each letter of the right the letter of the left that is the same, '-' for none. */
static const struct {
	struct traced_call left[MOST], right[MOST];
	uint8_t builds[2];
	enum trace_detail detail;
	const char *same;
} cases[] = {
	/* One build: the same code. */
	{{{"main:10 halo:20", SEND}, {"main:10 halo:21", RECV}, END},
	 {{"main:10 halo:20", SEND}, {"main:10 halo:21", RECV}, END},
	 {1, 1},
	 TRACE_BY_PATH,
	 "ab"},
	/* Only one of the calls was come to in each. */
	{{{"main:10 halo:20", SEND}, END},
	 {{"main:10 halo:22", SEND}, END},
	 {1, 1},
	 TRACE_BY_PATH,
	 "-"},
	/* Another way to the same call. */
	{{{"main:10 halo:20", SEND}, END},
	 {{"main:11 halo:20", SEND}, END},
	 {1, 1},
	 TRACE_BY_PATH,
	 "-"},
	{{{"main:10 halo:20", SEND}, END},
	 {{"main:11 halo:20", SEND}, END},
	 {1, 1},
	 TRACE_BY_LINE,
	 "a"},
	/* Two builds, and the code is two lines further down: a shift, not the call that is there
	   now. */
	{{{"main:10 halo:20", SEND}, {"main:10 halo:22", SEND}, {"main:10 halo:24", SEND}, END},
	 {{"main:12 halo:22", SEND}, {"main:12 halo:24", SEND}, {"main:12 halo:26", SEND}, END},
	 {1, 2},
	 TRACE_BY_PATH,
	 "abc"},
	/* The right hangs before the last call: lines that are the same count. */
	{{{"main:10 halo:20", SEND}, {"main:10 halo:22", SEND}, END},
	 {{"main:10 halo:22", SEND}, END},
	 {1, 2},
	 TRACE_BY_PATH,
	 "b"},
	/* A line was added in the middle of a function, and a call. */
	{{{"main:10", SEND}, {"main:11", RECV}, {"main:14", SEND}, {"main:15", RECV}, END},
	 {{"main:10", SEND},
	  {"main:11", RECV},
	  {"main:13", "MPI_Barrier", SEG_CLASS_COLLECTIVE},
	  {"main:16", SEND},
	  {"main:17", RECV},
	  END},
	 {1, 2},
	 TRACE_BY_PATH,
	 "ab-cd"},
	/* The order of two calls was changed: one of them is the same. */
	{{{"main:10", SEND}, {"main:11", RECV}, END},
	 {{"main:10", RECV}, {"main:11", SEND}, END},
	 {1, 2},
	 TRACE_BY_PATH,
	 "-a"},
	/* A function was added around it: other paths, the same call. */
	{{{"main:10 halo:20", SEND}, END},
	 {{"main:10 step:5 halo:20", SEND}, END},
	 {1, 2},
	 TRACE_BY_PATH,
	 "-"},
	{{{"main:10 halo:20", SEND}, END},
	 {{"main:10 step:5 halo:27", SEND}, END},
	 {1, 2},
	 TRACE_BY_LINE,
	 "a"},
	/* It is called in another function now. */
	{{{"main:10 halo:20", SEND}, {"main:10 halo:21", SEND}, END},
	 {{"main:10 exchange:20", SEND}, {"main:10 halo:90", SEND}, END},
	 {1, 2},
	 TRACE_BY_FUNCTION,
	 "-a"},
	{{{"main:10 halo:20", SEND}, {"main:10 halo:21", RECV}, END},
	 {{"main:10 exchange:20", RECV}, {"main:10 exchange:20", SEND}, END},
	 {1, 2},
	 TRACE_BY_CALL,
	 "ba"},
	/* Builds that are not known are not the same. */
	{{{"main:10", SEND}, {"main:20", RECV}, END},
	 {{"main:13", SEND}, {"main:23", RECV}, END},
	 {0, 0},
	 TRACE_BY_PATH,
	 "ab"},
	/* Two calls in one line. */
	{{{"main:10", SEND}, {"main:10", RECV}, END},
	 {{"main:10", RECV}, {"main:10", SEND}, END},
	 {1, 2},
	 TRACE_BY_PATH,
	 "ba"},
};

static void test_match(void **state)
{
	static const char *const nobody[] = {NULL};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct traced_run left =
			traced_run_create(cases[i].left, nobody, cases[i].builds[0]);
		struct traced_run right =
			traced_run_create(cases[i].right, nobody, cases[i].builds[1]);
		const struct trace_run runs[] = {traced_run_of(&left), traced_run_of(&right)};
		uint32_t *numbers[2], num;
		char same[MOST + 1] = "";

		num = trace_match(arena, runs, 2, cases[i].detail, numbers);
		for (size_t r = 0; r < right.traces->num_symbols; r++) {
			assert_in_range(numbers[1][r], 0, num - 1);
			same[r] = '-';
			for (size_t l = left.traces->num_symbols; l-- > 0;)
				if (numbers[0][l] == numbers[1][r])
					same[r] = (char)('a' + l);
		}
		if (strcmp(same, cases[i].same) != 0)
			fail_msg("case %zu: %s, not %s", i, same, cases[i].same);
		traced_run_destroy(&left);
		traced_run_destroy(&right);
	}
}

/* ---- Runs ---- */

static const struct traced_call ring[] = {
	{"main:5", "MPI_Init", SEG_CLASS_INIT},
	{"main:8 turn:20", SEND},
	{"main:8 turn:21", RECV},
	{"main:9", "MPI_Allreduce", SEG_CLASS_COLLECTIVE},
	{"main:11", "MPI_Finalize", SEG_CLASS_FINALIZE},
	END,
};

static const char *const healthy[] = {"a[bcd]^9e", "a[bcd]^9e", "a[cbd]^9e", NULL};

static const struct {
	const char *only, *without;
	bool is_communication;
	uint64_t length; /* of rank 2's trace */
} filters[] = {
	{NULL, NULL, false, 29},
	{"MPI_Send", NULL, false, 9},
	{"turn\\(\\) at ring.c:2", NULL, false, 18},
	{NULL, "MPI_Recv|Allreduce", false, 11},
	{"ring.c", "turn", false, 11},
	{NULL, NULL, true, 27},
	{"nothing", NULL, false, 0},
};

static void test_filters(void **state)
{
	struct traced_run run = traced_run_create(ring, healthy, 1);
	const struct trace_run one = traced_run_of(&run);

	(void)state;
	for (size_t i = 0; i < NUM_OF(filters); i++) {
		struct trace_runs_options options = {.filter.is_communication =
							     filters[i].is_communication};
		struct trace_runs *runs;
		regex_t only, without;

		if (filters[i].only) {
			assert_int_equal(regcomp(&only, filters[i].only, REG_EXTENDED), 0);
			options.filter.only = &only;
		}
		if (filters[i].without) {
			assert_int_equal(regcomp(&without, filters[i].without, REG_EXTENDED), 0);
			options.filter.without = &without;
		}
		runs = trace_runs_create(arena, &one, 1, &options);
		assert_int_equal(runs->num_threads, 3);
		assert_int_equal(trace_set_length(runs->set, TRACE_LOOP | runs->set->roots[2]),
				 filters[i].length);
		if (filters[i].only)
			regfree(&only);
		if (filters[i].without)
			regfree(&without);
	}
	traced_run_destroy(&run);
}

/* The same ranks of two builds have one root; threads are found by run and rank. */
static void test_runs(void **state)
{
	struct traced_call moved[NUM_OF(ring)];
	struct traced_run good = traced_run_create(ring, healthy, 1), bad;
	struct trace_runs_options options = {.detail = TRACE_BY_PATH};
	struct trace_run both[2] = {traced_run_of(&good)};
	struct trace_runs *runs;

	(void)state;
	memcpy(moved, ring, sizeof(ring));
	moved[1].path = "main:8 turn:25";
	moved[2].path = "main:8 turn:26";
	bad = traced_run_create(moved, healthy, 2);
	both[1] = traced_run_of(&bad);
	runs = trace_runs_create(arena, both, 2, &options);
	assert_int_equal(runs->num_threads, 6);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(trace_runs_find(runs, 1, (int)i, 0), 3 + i);
		assert_int_equal(runs->set->roots[i], runs->set->roots[3 + i]);
	}
	assert_int_not_equal(runs->set->roots[1], runs->set->roots[2]);
	assert_int_equal(trace_runs_find(runs, 1, 3, 0), -1);
	assert_int_equal(trace_runs_find(runs, 0, 0, 1), -1);
	traced_run_destroy(&good);
	traced_run_destroy(&bad);
}

/* Other threads only if they are wanted; a rank without a trace has none. */
static void test_threads(void **state)
{
	struct traced_run run = traced_run_create(ring, healthy, 1);
	struct trace_runs_options options = {.detail = TRACE_BY_PATH};
	const struct trace_run one = traced_run_of(&run);
	struct traces_lane *lanes = run.traces->lanes;
	struct trace_runs *runs;

	(void)state;
	/* Rank 0 has two threads, of which the second is the main one; rank 2 no trace. */
	lanes[1].rank = 0;
	lanes[1].lane = 1;
	lanes[0].is_main = false;
	trace_destroy((struct trace *)lanes[2].trace);
	lanes[2].trace = NULL;
	lanes[2].note = "the trace is corrupt";
	runs = trace_runs_create(arena, &one, 1, &options);
	assert_int_equal(runs->num_threads, 1);
	assert_ptr_equal(runs->threads[0].lane, &lanes[1]);
	options.all_threads = true;
	runs = trace_runs_create(arena, &one, 1, &options);
	assert_int_equal(runs->num_threads, 2);
	assert_int_equal(trace_runs_find(runs, 0, 0, 1), 1);
	assert_ptr_equal(runs->threads[1].lane, &lanes[0]);
	traced_run_destroy(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, begin_arena, end_arena);
}
