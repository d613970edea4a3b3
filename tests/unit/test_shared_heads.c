/* SPDX-License-Identifier: BSD-3-Clause
 * Random nests of loops of which many begin with the first call of a loop inside. Ranks make
 * differently many iterations of the inner ones. The code tells which loops there are; the
 * iterations of all ranks are compared with the true ones. */
#include <stdio.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/progress/loop_nest.h"
#include "model/job/callpath.h"
#include "tests/unit/progress_calls.h"

static uint32_t seed;

static uint32_t random_below(uint32_t bound)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)seed * bound) >> 32);
}

static uint32_t mix(uint32_t a, uint32_t b)
{
	a = (a ^ b) * 0x9e3779b1u;
	return a ^ a >> 15;
}

/* ---- Programs ---- */

enum { MAX_DEPTH = 3, MAX_ITEMS = 6, MAX_LOOPS = 24, MAX_CALLS = 64, NUM_RANKS = 5 };
enum { CALLS_AT = 2000 };

enum trips { TRIPS_CONSTANT, TRIPS_BY_ITERATION, TRIPS_BY_RANK, NUM_TRIPS };

/* Items from 0 on are calls, below that loops: -1 is loop 1. Loop 0 is the outermost. */
struct program_loop {
	enum trips trips;
	uint32_t parent, depth;
	int items[MAX_ITEMS];
	uint32_t num_items;
};

struct program {
	struct program_loop loops[MAX_LOOPS];
	uint32_t num_loops;
	uint32_t loop_of[MAX_CALLS];
	uint32_t num_calls;
	bool has_optional; /* the last call of the outermost loop is made now and then only */
};

static void add_call(struct program *program, uint32_t loop)
{
	struct program_loop *to = &program->loops[loop];

	to->items[to->num_items++] = (int)program->num_calls;
	program->loop_of[program->num_calls++] = loop;
}

/* A loop that begins with another one makes a call after it: else nothing tells that it is there. */
static uint32_t add_loop(struct program *program, uint32_t parent, uint32_t depth, uint32_t deepest)
{
	uint32_t index = program->num_loops++;
	struct program_loop *loop = &program->loops[index];

	loop->parent = parent;
	loop->depth = depth;
	loop->trips = (enum trips)random_below(NUM_TRIPS);
	if (depth < deepest && random_below(10) < 8)
		loop->items[loop->num_items++] = -(int)add_loop(program, index, depth + 1, deepest);
	else
		add_call(program, index);
	if (random_below(2))
		add_call(program, index);
	if (depth < deepest && random_below(10) < 2)
		loop->items[loop->num_items++] = -(int)add_loop(program, index, depth + 1, deepest);
	if (loop->num_items == 1 ? loop->items[0] < 0 : loop->items[loop->num_items - 1] < 0)
		add_call(program, index);
	return index;
}

struct run {
	const struct program *program;
	struct sim_rank *rank;
	uint32_t iterations[MAX_DEPTH]; /* from 1, of the loops around */
	uint32_t target, left;          /* stop in that iteration of the outermost, after so many */
	bool has_stopped;
	uint32_t truth[MAX_DEPTH], call;
};

static void step(struct run *run, uint32_t call, bool is_exit)
{
	if (run->has_stopped)
		return;
	if (is_exit)
		sim_leave(run->rank);
	else
		sim_enter(run->rank, "MPI_Send", SIM_PATH(1000, CALLS_AT + call));
	memcpy(run->truth, run->iterations, sizeof(run->truth));
	run->call = call;
	if (run->iterations[0] == run->target && --run->left == 0)
		run->has_stopped = true;
}

/* Each loop is repeated at once, so that all are known after the first iteration. */
static uint32_t count_trips(const struct run *run, const struct program_loop *loop)
{
	uint32_t hash = mix((uint32_t)(loop - run->program->loops), 3);

	if (loop->trips == TRIPS_BY_RANK)
		hash = mix(hash, (uint32_t)run->rank->rank);
	for (uint32_t i = 0; i < loop->depth && loop->trips != TRIPS_CONSTANT; i++)
		hash = mix(hash, run->iterations[i]);
	return 2 + mix(hash, 1) % 4;
}

static bool is_skipped(const struct run *run, int call)
{
	return run->program->has_optional && run->iterations[0] % 4 != 2 &&
	       call == run->program->loops[0].items[run->program->loops[0].num_items - 1];
}

static void run_loop(struct run *run, uint32_t index)
{
	const struct program_loop *loop = &run->program->loops[index];
	uint32_t trips = loop->depth ? count_trips(run, loop) : run->target;

	for (uint32_t t = 1; t <= trips && !run->has_stopped; t++) {
		run->iterations[loop->depth] = t;
		for (uint32_t i = 0; i < loop->num_items; i++) {
			if (loop->items[i] < 0) {
				run_loop(run, (uint32_t)-loop->items[i]);
			} else if (!is_skipped(run, loop->items[i])) {
				step(run, (uint32_t)loop->items[i], false);
				step(run, (uint32_t)loop->items[i], true);
			}
		}
	}
}

/* ---- What the code tells ---- */

struct code {
	const struct program *program;
	const struct callpaths *paths;
};

static uint32_t find_loop(const struct code *code, uint32_t path)
{
	return code->program->loop_of[callpaths_get(code->paths, path)->offset - CALLS_AT];
}

static bool contains(const struct program *program, uint32_t loop, uint32_t inner)
{
	while (program->loops[inner].depth > program->loops[loop].depth)
		inner = program->loops[inner].parent;
	return inner == loop;
}

static enum progress_nesting ask(void *context, const struct progress_calls *calls)
{
	const struct code *code = context;
	uint32_t loop = find_loop(code, calls->first), last = find_loop(code, calls->last);

	while (!contains(code->program, loop, last))
		loop = code->program->loops[loop].parent;
	return contains(code->program, loop, find_loop(code, calls->outside)) ? PROGRESS_ONE_LOOP
									      : PROGRESS_NESTED;
}

/* ---- Compared ---- */

struct score {
	unsigned int right, wrong, num_outermost_wrong;
};

static void compare_iterations(const struct run *run, const struct place *place,
			       struct score *score)
{
	uint32_t depth = run->program->loops[run->program->loop_of[run->call]].depth + 1;
	bool is_right = place->num_iterations == depth;

	for (uint32_t i = 0; is_right && i < depth; i++)
		is_right = place->iterations[i].count == run->truth[i] ||
			   place->iterations[i].is_approximate;
	is_right ? score->right++ : score->wrong++;
	if (place->num_iterations == 0 || place->iterations[0].count != run->truth[0])
		score->num_outermost_wrong++;
}

/* In the order of the program: same iterations of the same loops are the same place. */
static void compare_order(const struct progress *progress, const struct run *runs)
{
	for (uint32_t a = 0; a < NUM_RANKS; a++)
		for (uint32_t b = 0; b < NUM_RANKS; b++) {
			enum progress_order order = progress_compare(progress, a, b);

			if (runs[a].truth[0] < runs[b].truth[0])
				assert_int_not_equal(order, PROGRESS_MORE);
			if (runs[a].truth[0] > runs[b].truth[0])
				assert_int_not_equal(order, PROGRESS_LESS);
		}
}

static void take_look(uint32_t num_iterations, bool has_optional, size_t max_ring,
		      struct score *score)
{
	struct program program = {.has_optional = has_optional};
	struct run runs[NUM_RANKS];
	struct job *job = job_create();
	struct code code = {&program, job->callpaths};
	const struct progress_code told = {ask, &code};
	struct progress *progress;

	add_loop(&program, 0, 0, random_below(MAX_DEPTH));
	if (has_optional)
		add_call(&program, 0);
	for (int r = 0; r < NUM_RANKS; r++) {
		struct run *run = &runs[r];

		*run = (struct run){
			.program = &program,
			.rank = sim_rank_create(r),
			.target = num_iterations + random_below(2),
			.left = 1 + random_below(40),
		};
		run->rank->max_ring = max_ring;
		run_loop(run, 0);
		sim_add(job, run->rank);
	}
	job_model_finish(job->model);
	progress = progress_create_by_code(job->model, &told);
	for (int r = 0; r < NUM_RANKS; r++)
		compare_iterations(&runs[r], &progress->places[r], score);
	compare_order(progress, runs);
	progress_destroy(progress);
	job_destroy(job);
}

static void look_often(const char *what, bool has_optional, size_t max_ring)
{
	static const uint32_t nums[] = {3, 5, 12, 60};

	for (size_t i = 0; i < NUM_OF(nums); i++) {
		struct score score = {0};

		seed = 4711;
		for (int n = 0; n < 500; n++)
			take_look(nums[i], has_optional, max_ring, &score);
		print_message("%s, iteration %u: %u right, %u wrong, outermost loop %u wrong\n",
			      what, nums[i], score.right, score.wrong, score.num_outermost_wrong);
		assert_int_equal(score.wrong, 0);
		assert_int_equal(score.num_outermost_wrong, 0);
	}
}

static void test_nests(void **state)
{
	(void)state;
	look_often("nests", false, SIZE_MAX);
}

/* for { ...; if { } }: the code has one loop, so that what is left out now and then is no end. */
static void test_optional_calls(void **state)
{
	(void)state;
	look_often("with a call now and then", true, SIZE_MAX);
}

static void test_short_rings(void **state)
{
	(void)state;
	look_often("short rings", false, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nests),
		cmocka_unit_test(test_optional_calls),
		cmocka_unit_test(test_short_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
