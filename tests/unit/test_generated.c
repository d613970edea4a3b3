/* SPDX-License-Identifier: BSD-3-Clause
 * Random programs with a known true order: nested loops whose trip counts may depend on the rank,
 * branches, calls. Ranks stop at random places; the order found is compared with the true one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "tests/unit/simulation.h"

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

enum node_kind { NODE_CALL, NODE_LOOP, NODE_IF };

struct node {
	enum node_kind kind;
	uint32_t id;       /* of a call: its offset in the program */
	uint32_t num_arms; /* of an if: 1 or 2; of a loop 1 */
	uint32_t first[2]; /* index into the program's lists */
	uint32_t num[2];
	bool by_rank;     /* trips or choice differ between ranks */
	bool is_constant; /* a choice that a rank always makes alike */
};

struct program {
	struct node nodes[256];
	uint32_t num_nodes;
	uint32_t lists[512]; /* node indexes */
	uint32_t num_lists;
	uint32_t first, num;
};

struct kind {
	const char *name;
	bool own_headers; /* each loop begins with a call that all ranks make */
	bool by_rank;     /* trip counts */
	bool branches;
	/* Of 1,000 pairs whose loops are all known, at most: what cannot be told from a trace is
	 * the nest behind a head that several loops share. */
	unsigned int most_wrong, most_undecided;
};

enum { MAX_POSITION = 32, MAX_EVENTS = 3000, NUM_RANKS = 5, NUM_PROGRAMS = 2000 };

/* True position: (place in the sequence, iteration or arm) from the program inwards. */
struct event {
	uint32_t call;
	bool is_exit;
	uint8_t num;
	uint16_t position[MAX_POSITION];
};

static uint32_t build_list(struct program *program, const struct kind *kind, uint32_t depth,
			   bool needs_header, uint32_t *num_ret);

static uint32_t build_node(struct program *program, const struct kind *kind, uint32_t depth,
			   bool is_call)
{
	uint32_t index = program->num_nodes++;
	struct node *node = &program->nodes[index];
	uint32_t choice = random_below(10);

	memset(node, 0, sizeof(*node));
	node->id = index + 1;
	if (is_call || program->num_nodes > 40)
		return index;
	if (choice < 3 && depth < 3) {
		node->kind = NODE_LOOP;
		node->num_arms = 1;
		node->by_rank = kind->by_rank && random_below(2);
		node->first[0] = build_list(program, kind, depth + 1, kind->own_headers,
					    &program->nodes[index].num[0]);
	} else if (choice < 5 && kind->branches) {
		node->kind = NODE_IF;
		node->num_arms = 1 + random_below(2);
		node->by_rank = random_below(2);
		node->is_constant = node->by_rank && random_below(2);
		for (uint32_t i = 0; i < node->num_arms; i++)
			node->first[i] = build_list(program, kind, depth, false,
						    &program->nodes[index].num[i]);
	}
	return index;
}

static uint32_t build_list(struct program *program, const struct kind *kind, uint32_t depth,
			   bool needs_header, uint32_t *num_ret)
{
	uint32_t num = 1 + random_below(3), list[4];
	uint32_t first;

	for (uint32_t i = 0; i < num; i++)
		list[i] = build_node(program, kind, depth, i == 0 && needs_header);
	first = program->num_lists;
	memcpy(&program->lists[first], list, num * sizeof(*list));
	program->num_lists += num;
	*num_ret = num;
	return first;
}

struct run {
	const struct program *program;
	uint32_t rank;
	struct event *events;
	uint32_t num_events;
	uint16_t position[MAX_POSITION];
	uint32_t num;
};

static void emit(struct run *run, uint32_t call, bool is_exit)
{
	struct event *event = &run->events[run->num_events];

	if (run->num_events == MAX_EVENTS)
		return;
	run->num_events++;
	event->call = call;
	event->is_exit = is_exit;
	event->num = (uint8_t)run->num;
	memcpy(event->position, run->position, sizeof(event->position));
}

/* The same in all ranks for the same node and iterations, unless it depends on the rank. */
static uint32_t choose(const struct run *run, const struct node *node, uint32_t bound)
{
	uint32_t hash = node->id * 77 + 5;

	if (node->by_rank)
		hash = mix(hash, run->rank + 100);
	for (uint32_t i = 0; i < run->num && !node->is_constant; i++)
		hash = mix(hash, run->position[i]);
	return mix(hash, 1) % bound;
}

static void run_list(struct run *run, uint32_t first, uint32_t num)
{
	uint32_t level = run->num;

	if (level + 3 > MAX_POSITION)
		return;
	for (uint32_t i = 0; i < num && run->num_events < MAX_EVENTS; i++) {
		const struct node *node = &run->program->nodes[run->program->lists[first + i]];

		run->position[level] = (uint16_t)i;
		run->position[level + 1] = 0;
		run->num = level + 2;
		if (node->kind == NODE_CALL) {
			emit(run, node->id, false);
			run->position[level + 1] = 1;
			emit(run, node->id, true);
		} else if (node->kind == NODE_LOOP) {
			uint32_t trips = 1 + choose(run, node, 5);

			for (uint32_t t = 0; t < trips; t++) {
				run->position[level + 1] = (uint16_t)t;
				run->num = level + 2;
				run_list(run, node->first[0], node->num[0]);
			}
		} else {
			uint32_t arm = choose(run, node, 2);

			run->position[level + 1] = (uint16_t)arm;
			if (arm < node->num_arms)
				run_list(run, node->first[arm], node->num[arm]);
		}
	}
	run->num = level;
}

static enum progress_order true_order(const struct program *program, const struct event *a,
				      const struct event *b)
{
	uint32_t first = program->first;

	for (uint32_t l = 0; l < a->num && l < b->num; l += 2) {
		const struct node *node = &program->nodes[program->lists[first + a->position[l]]];
		uint16_t x = a->position[l + 1], y = b->position[l + 1];

		if (a->position[l] != b->position[l])
			return a->position[l] < b->position[l] ? PROGRESS_LESS : PROGRESS_MORE;
		if (x != y && node->kind == NODE_IF)
			return PROGRESS_UNORDERED;
		if (x != y)
			return x < y ? PROGRESS_LESS : PROGRESS_MORE;
		first = node->first[node->kind == NODE_IF ? x : 0];
	}
	return PROGRESS_SAME;
}

/* ---- One snapshot ---- */

struct score {
	unsigned int right, wrong, undecided;
	unsigned int frontier_right, frontier_wrong, frontier_undecided;
};

/* Loops of the program that contain both. */
static uint32_t count_true_loops(const struct program *program, const struct event *a,
				 const struct event *b)
{
	uint32_t first = program->first, num = 0;

	for (uint32_t l = 0; l < a->num && l < b->num; l += 2) {
		const struct node *node = &program->nodes[program->lists[first + a->position[l]]];
		uint16_t arm = node->kind == NODE_IF ? a->position[l + 1] : 0;

		if (a->position[l] != b->position[l] || node->kind == NODE_CALL)
			break;
		if (node->kind == NODE_LOOP)
			num++;
		else if (arm != b->position[l + 1])
			break;
		first = node->first[arm];
	}
	return num;
}

/* Loops that contain both as far as the ranks' transitions tell. */
static uint32_t count_seen_loops(const struct place *x, const struct place *y)
{
	uint32_t num = 0;

	while (num < x->num_iterations && num < y->num_iterations &&
	       x->iterations[num].loop == y->iterations[num].loop)
		num++;
	return num;
}

/* Has one of them gone from the other's loop, or both from one, to where nobody came back from? */
static bool is_at_frontier(const struct place *x, const struct place *y)
{
	uint32_t of_x = x->num_frontier ? x->frontier[0].loop : LOOP_NONE;
	uint32_t of_y = y->num_frontier ? y->frontier[0].loop : LOOP_NONE;

	return (of_x != LOOP_NONE && of_x == of_y) ||
	       (of_x != LOOP_NONE && y->num_iterations && of_x == y->iterations[0].loop) ||
	       (of_y != LOOP_NONE && x->num_iterations && of_y == x->iterations[0].loop);
}

static void score_pair(struct score *score, bool is_known, enum progress_order found,
		       enum progress_order truth)
{
	if (found == truth)
		is_known ? score->right++ : score->frontier_right++;
	else if (found == PROGRESS_UNORDERED)
		is_known ? score->undecided++ : score->frontier_undecided++;
	else
		is_known ? score->wrong++ : score->frontier_wrong++;
}

static enum progress_order reverse(enum progress_order order)
{
	if (order == PROGRESS_LESS)
		return PROGRESS_MORE;
	return order == PROGRESS_MORE ? PROGRESS_LESS : order;
}

static void check_is_partial_order(const struct progress *progress)
{
	uint32_t num = (uint32_t)progress->jm->num_lanes;
	enum progress_order order[NUM_RANKS][NUM_RANKS];

	for (uint32_t a = 0; a < num; a++)
		for (uint32_t b = 0; b < num; b++)
			order[a][b] = progress_compare(progress, a, b);
	for (uint32_t a = 0; a < num; a++) {
		assert_int_equal(order[a][a], PROGRESS_SAME);
		for (uint32_t b = 0; b < num; b++) {
			assert_int_equal(order[a][b], reverse(order[b][a]));
			for (uint32_t c = 0; c < num; c++) {
				if (order[a][b] == PROGRESS_SAME)
					assert_int_equal(order[a][c], order[b][c]);
				if (order[a][b] == PROGRESS_LESS && order[b][c] == PROGRESS_LESS)
					assert_int_equal(order[a][c], PROGRESS_LESS);
			}
		}
	}
}

static void add_rank(struct job *job, int rank, const struct event *events, uint32_t num)
{
	struct sim_rank *sim = sim_rank_create(rank);

	for (uint32_t i = 0; i < num; i++) {
		if (events[i].is_exit)
			sim_leave(sim);
		else
			sim_enter(sim, "MPI_Send", SIM_PATH(1000, events[i].call));
	}
	sim_add(job, sim);
}

static void take_snapshot(const struct kind *kind, struct score *score)
{
	static struct event events[NUM_RANKS][MAX_EVENTS];
	uint32_t stops[NUM_RANKS];
	struct program program = {0};
	struct job *job = job_create();
	struct progress *progress;
	uint32_t shortest = MAX_EVENTS, base, spread = 1 + random_below(60);

	program.first = build_list(&program, kind, 0, false, &program.num);
	for (uint32_t r = 0; r < NUM_RANKS; r++) {
		struct run run = {.program = &program, .rank = r, .events = events[r]};

		run_list(&run, program.first, program.num);
		stops[r] = run.num_events;
		if (run.num_events < shortest)
			shortest = run.num_events;
	}
	if (shortest < 2) {
		job_destroy(job);
		return;
	}
	base = random_below(shortest);
	for (uint32_t r = 0; r < NUM_RANKS; r++) {
		uint32_t stop = base + 1 + random_below(spread);

		if (stop < stops[r])
			stops[r] = stop;
		add_rank(job, (int)r, events[r], stops[r]);
	}
	job_model_finish(job->model);
	progress = progress_create(job->model);
	check_is_partial_order(progress);
	for (uint32_t a = 0; a < NUM_RANKS; a++) {
		for (uint32_t b = a + 1; b < NUM_RANKS; b++) {
			const struct event *x = &events[a][stops[a] - 1];
			const struct event *y = &events[b][stops[b] - 1];
			enum progress_order found = progress_compare(progress, a, b);
			enum progress_order truth = true_order(&program, x, y);

			const struct place *p = &progress->places[a], *q = &progress->places[b];

			score_pair(score,
				   count_true_loops(&program, x, y) <= count_seen_loops(p, q) &&
					   !is_at_frontier(p, q),
				   found, truth);
		}
	}
	progress_destroy(progress);
	job_destroy(job);
}

static const struct kind kinds[] = {
	{"own header, same trips", true, false, false, 0, 0},
	{"own header, trips by rank", true, true, false, 0, 0},
	{"own header, branches", true, true, true, 0, 60},
	{"any header, same trips", false, false, false, 0, 5},
	{"any header, trips by rank", false, true, false, 1, 30},
	{"any header, branches", false, true, true, 8, 80},
};

static void test_orders(void **state)
{
	(void)state;
	printf("%-28s %21s   %21s\n", "", "their loops are known", "not yet");
	printf("%-28s %7s %6s %6s   %7s %6s %6s\n", "", "right", "wrong", "undec.", "right",
	       "wrong", "undec.");
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct score score = {0};
		unsigned int num;

		seed = 4711;
		for (int i = 0; i < NUM_PROGRAMS; i++)
			take_snapshot(&kinds[k], &score);
		printf("%-28s %7u %6u %6u   %7u %6u %6u\n", kinds[k].name, score.right, score.wrong,
		       score.undecided, score.frontier_right, score.frontier_wrong,
		       score.frontier_undecided);
		num = score.right + score.wrong + score.undecided;
		assert_true(num > 3 * NUM_PROGRAMS);
		assert_true(score.wrong * 1000 <= num * kinds[k].most_wrong);
		assert_true(score.undecided * 1000 <= num * kinds[k].most_undecided);
		/* Where not all loops are known yet, going by equal trips is a guess. */
		assert_true(score.frontier_wrong * 10 <= score.frontier_right * 2);
		if (!kinds[k].by_rank)
			assert_int_equal(score.frontier_wrong, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
