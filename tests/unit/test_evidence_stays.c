/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/unit.h"

#include "analysis/evidence/stays.h"
#include "analysis/progress/progress.h"
#include "model/arena.h"
#include "model/job/rankset.h"
#include "tests/unit/simulation.h"

/* ---- What a stay takes ---- */

static void test_needed(void **state)
{
	static const struct {
		uint64_t num, longest_ms;
		double error, least_ratio;
		uint64_t needed_ms;
	} cases[] = {
		/* Unlike all before: 20 ms times 1000 / (n + 1). */
		{0, 0, 0.001, 5, 20000},
		{3, 1, 0.001, 5, 5000},
		{9, 10, 0.001, 5, 2000},
		{99, 10, 0.001, 5, 200},
		/* As the longest before, but longer: its root times that. */
		{9, 1000, 0.001, 5, 10000},
		{9, 400, 0.001, 5, 4000},
		/* As often as one likes, it is some times as long. */
		{99999, 1000, 0.001, 5, 5000},
		{9, 1000, 0.1, 1.2, 1200},
		{1, 1000, 0.1, 1.2, 2236},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		uint64_t ns = stays_needed(cases[i].num, cases[i].longest_ms * SIM_MS,
					   cases[i].error, cases[i].least_ratio);

		assert_int_equal((ns + SIM_MS / 2) / SIM_MS, cases[i].needed_ms);
	}
	assert_true(stays_needed(0, UINT64_MAX, 0.001, 5) == UINT64_MAX);
}

/* ---- Lanes ---- */

/* What a rank has done: calls, each at a place of its own. i: MPI_Init, b: MPI_Barrier, r:
 * MPI_Allreduce, s: MPI_Send, f: MPI_Finalize; in capitals it has not returned. A digit d: it stays
 * for 10^d ms. First `begin`, then `times` times `body`, at last `end`. */
struct program {
	const char *begin, *body;
	int times;
	const char *end;
};

static void run_text(struct sim_rank *rank, const char *text)
{
	static const char kinds[] = "ibrsf";
	static const char *const names[] = {"MPI_Init", "MPI_Barrier", "MPI_Allreduce", "MPI_Send",
					    "MPI_Finalize"};

	for (; text && *text; text++) {
		uint64_t ms = 1;
		uint32_t kind;

		if (*text >= '0' && *text <= '9') {
			for (int i = 0; i < *text - '0'; i++)
				ms *= 10;
			sim_stay(rank, ms);
			continue;
		}
		kind = (uint32_t)(strchr(kinds, *text | 0x20) - kinds);
		sim_enter(rank, names[kind], SIM_PATH(1000 + kind));
		if (*text & 0x20)
			sim_leave(rank);
	}
}

static struct job *make_job(const struct program *programs, int num)
{
	struct job *job = job_create();

	for (int r = 0; r < num; r++) {
		struct sim_rank *rank = sim_rank_create(r);

		run_text(rank, programs[r].begin);
		for (int i = 0; i < programs[r].times; i++)
			run_text(rank, programs[r].body);
		run_text(rank, programs[r].end);
		sim_add(job, rank);
	}
	job_model_finish(job->model);
	return job;
}

/* The last of four ranks is judged. Steps take 1 ms. */
static const struct {
	const char *what;
	struct program programs[4];
	enum stay_basis basis;
	bool is_new, is_edge;
	uint64_t num, longest_ms, unusual_ms, hang_ms;
} lanes[] = {
	{"after many short steps",
	 {{"ib", "r", 99, "R"}, {"ib", "r", 99, "R"}, {"ib", "r", 99, "R"}, {"ib", "r", 100, ""}},
	 STAY_BY_PLACE,
	 false,
	 false,
	 102,
	 1,
	 500,
	 1000},
	{"a long set-up elsewhere says nothing of this place",
	 {{"ib4", "r", 99, "R"},
	  {"ib4", "r", 99, "R"},
	  {"ib4", "r", 99, "R"},
	  {"ib4", "r", 100, ""}},
	 STAY_BY_PLACE,
	 false,
	 false,
	 102,
	 1,
	 500,
	 1000},
	{"another rank has stayed here for a second once",
	 {{"ib", "r", 99, "R"}, {"ibr3", "r", 98, "R"}, {"ib", "r", 99, "R"}, {"ib", "r", 100, ""}},
	 STAY_BY_PLACE,
	 false,
	 false,
	 102,
	 1001,
	 1201,
	 5005},
	{"after few steps a longer one is no wonder",
	 {{"ib", "r2", 2, "R"}, {"ib", "r2", 2, "R"}, {"ib", "r2", 2, "R"}, {"ib", "r2", 2, "r"}},
	 STAY_BY_PLACE,
	 false,
	 false,
	 5,
	 101,
	 500,
	 3333},
	{"the first time here, where others were briefly, in a loop of long iterations",
	 {{"ib", "r3s", 5, "R"},
	  {"ib", "r3s", 5, "R"},
	  {"ib", "r3s", 5, "R"},
	  {"ib", "r3", 5, "rs"}},
	 STAY_BY_OTHERS,
	 true,
	 false,
	 3,
	 1,
	 500,
	 5000},
	{"after a long set-up of all, in the first step: others have got on",
	 {{"ib4r", NULL, 0, "S"},
	  {"ib4r", NULL, 0, "S"},
	  {"ib4r", NULL, 0, "S"},
	  {"ib4r", NULL, 0, ""}},
	 STAY_BY_OTHERS,
	 true,
	 false,
	 3,
	 1,
	 500,
	 5000},
	{"the same of one that does alone what others skip",
	 {{"ibr", NULL, 0, "S"},
	  {"ibr", NULL, 0, "S"},
	  {"ibr", NULL, 0, "S"},
	  {"ib3r", NULL, 0, ""}},
	 STAY_BY_OTHERS,
	 true,
	 false,
	 3,
	 1,
	 1001,
	 10010},
	{"nobody has ever left this place: longer than anywhere",
	 {{"ib3", NULL, 0, "R"},
	  {"ib3", NULL, 0, "R"},
	  {"ib3", NULL, 0, "R"},
	  {"ib3r", NULL, 0, ""}},
	 STAY_BY_ELSEWHERE,
	 true,
	 false,
	 0,
	 1001,
	 1001,
	 10010},
	{"nor in a loop that the others are in",
	 {{"ib", "r1", 40, "R"},
	  {"ib", "r1", 40, "R"},
	  {"ib", "r1", 40, "R"},
	  {"ib4", "r1", 40, "rs"}},
	 STAY_BY_LOOP,
	 true,
	 false,
	 40,
	 12,
	 500,
	 3000},
	{"who waits inside does so for others, however long these did",
	 {{"ib", "r", 99, "R3r"}, {"ib", "r", 99, "R"}, {"ib", "r", 99, "R"}, {"ib", "r", 99, "R"}},
	 STAY_BY_PLACE,
	 false,
	 false,
	 99,
	 1,
	 500,
	 1000},
	{"before the first message it starts up",
	 {{"i", NULL, 0, "B"}, {"i", NULL, 0, "B"}, {"i", NULL, 0, "B"}, {"i", NULL, 0, ""}},
	 STAY_BY_OTHERS,
	 true,
	 true,
	 3,
	 1,
	 60000,
	 60000},
	{"all are in MPI_Init",
	 {{NULL, NULL, 0, "I"}, {NULL, NULL, 0, "I"}, {NULL, NULL, 0, "I"}, {NULL, NULL, 0, "I"}},
	 STAY_BY_ELSEWHERE,
	 true,
	 true,
	 0,
	 0,
	 60000,
	 60000},
	{"the others are in MPI_Finalize",
	 {{"ib", "r", 9, "F"}, {"ib", "r", 9, "F"}, {"ib", "r", 9, "F"}, {"ib", "r", 9, ""}},
	 STAY_BY_PLACE,
	 false,
	 true,
	 11,
	 1,
	 60000,
	 60000},
};

static void assert_near_ms(uint64_t ns, uint64_t ms)
{
	assert_in_range(ns / SIM_MS, ms > 0 ? ms - 1 : 0, ms + 1);
}

static void test_lanes(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(lanes); i++) {
		struct job *job = make_job(lanes[i].programs, 4);
		struct progress *progress = progress_create(job->model);
		struct arena *arena = arena_create();
		struct stay_judgement found =
			stays_judge(stays_create(arena, job->model, progress), 3);

		print_message("%s: n %d, %d ms, %d ms, %d ms\n", lanes[i].what, (int)found.num,
			      (int)(found.longest_ns / SIM_MS), (int)(found.unusual_ns / SIM_MS),
			      (int)(found.hang_ns / SIM_MS));
		assert_int_equal(found.basis, lanes[i].basis);
		assert_int_equal(found.is_new, lanes[i].is_new);
		assert_int_equal(found.is_edge, lanes[i].is_edge);
		assert_int_equal(found.num, lanes[i].num);
		assert_near_ms(found.longest_ns, lanes[i].longest_ms);
		assert_near_ms(found.unusual_ns, lanes[i].unusual_ms);
		assert_near_ms(found.hang_ns, lanes[i].hang_ms);
		arena_destroy(arena);
		progress_destroy(progress);
		job_destroy(job);
	}
}

/* Another rank has stayed where this one is for 10 s, but polled, its longest pause being 100 ms. Of
 * one that computes since its last poll only the pauses are comparable; of one that has not polled
 * since it came, the stay is. */
static void test_polled(void **state)
{
	static const struct program programs[] = {
		{"ib", "r", 99, "R"}, {"ibr4", "r", 98, "R"}, {"ib", "r", 100, ""}};
	static const struct {
		uint64_t polls, longest_ms, hang_ms;
	} cases[] = {{0, 10001, 50005}, {1, 100, 3000}};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = make_job(programs, 3);
		struct arena *arena = arena_create();
		struct model_lane *polled = (struct model_lane *)job->model->lanes[1].data;
		struct model_lane *judged = (struct model_lane *)job->model->lanes[2].data;
		struct stay_judgement found;

		/* "r" is at the same site in all of them. */
		polled->state_polls[judged->state] = 100 * SIM_MS;
		judged->polls = cases[i].polls;
		found = stays_judge(stays_create(arena, job->model, NULL), 2);
		assert_int_equal(found.basis, STAY_BY_PLACE);
		assert_near_ms(found.longest_ns, cases[i].longest_ms);
		assert_near_ms(found.hang_ns, cases[i].hang_ms);
		arena_destroy(arena);
		job_destroy(job);
	}
}

/* A look without details brings of each lane one stay: in its present place, if it was there. */
static void test_without_details(void **state)
{
	static const struct program programs[] = {
		{"ib4", "r", 99, "R"}, {"ibr3", "r", 98, "r"}, {"ib4", "r", 100, ""}};
	struct job *job = make_job(programs, 3);
	struct arena *arena = arena_create();
	struct stay_judgement found;

	(void)state;
	for (size_t i = 0; i < job->model->num_lanes; i++) {
		struct model_lane *lane = (struct model_lane *)job->model->lanes[i].data;

		lane->longest = model_lane_longest(job->model->lanes[i].model, lane);
		free(lane->longest_ns);
		lane->longest_ns = NULL;
	}
	found = stays_judge(stays_create(arena, job->model, NULL), 2);
	assert_int_equal(found.basis, STAY_BY_PLACE);
	assert_int_equal(found.num, 100);
	assert_near_ms(found.longest_ns, 1001);
	arena_destroy(arena);
	job_destroy(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_needed),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_polled),
		cmocka_unit_test(test_without_details),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
