/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/unit.h"

#include "analysis/eqgroup.h"
#include "analysis/loop_nest.h"
#include "analysis/progress.h"
#include "model/callpath.h"
#include "model/rankset.h"
#include "tests/unit/simulation.h"

/* Offsets of calls in the simulated program: main is 1000 and up, functions are called from there. */
#define MAIN(n) SIM_PATH(1000 + (n))
#define IN(function, n) SIM_PATH(1000 + (function), 2000 + (function) * 100 + (n))

static struct progress *finish(struct job *job)
{
	job_model_finish(job->model);
	return progress_create(job->model);
}

static void assert_order(const struct progress *progress, uint32_t less, uint32_t more)
{
	assert_int_equal(progress_compare(progress, less, more), PROGRESS_LESS);
	assert_int_equal(progress_compare(progress, more, less), PROGRESS_MORE);
}

static const struct iteration *innermost(const struct progress *progress, uint32_t actor)
{
	const struct place *place = &progress->places[actor];

	assert_true(place->num_iterations > 0);
	return &place->iterations[place->num_iterations - 1];
}

static void test_nothing(void **state)
{
	struct job *job = job_create();
	struct progress *progress;

	(void)state;
	job->model = job_model_create(job->modules, job->callpaths);
	progress = finish(job);
	assert_int_equal(progress->num_loops, 0);
	progress_destroy(progress);
	progress_destroy(NULL);
	job_destroy(job);
}

static void test_before_first_call(void **state)
{
	struct job *job = job_create();
	struct sim_rank *rank = sim_rank_create(1);
	struct progress *progress;

	(void)state;
	sim_add(job, sim_rank_create(0));
	sim_enter(rank, "MPI_Init", MAIN(1));
	sim_add(job, rank);
	progress = finish(job);
	assert_order(progress, 0, 1);
	progress_destroy(progress);
	job_destroy(job);
}

/* ---- Figure 1 of the Prodometer paper --------------------------------------------------------- */

/* while { Isend; Irecv; Waitall; Allgather }: rank 4 never gets to Irecv, its neighbours wait for it
 * in Waitall, all others are in Allgather. */
static void run_figure_1(struct sim_rank *rank, int stop)
{
	sim_call(rank, "MPI_Init", MAIN(1));
	for (int i = 0; i < 5; i++) {
		bool is_last = i == 4;

		sim_call(rank, "MPI_Isend", IN(2, 1));
		if (is_last && stop == 0)
			return;
		sim_call(rank, "MPI_Irecv", IN(2, 2));
		sim_enter(rank, "MPI_Waitall", IN(2, 3));
		if (is_last && stop == 1)
			return;
		sim_leave(rank);
		sim_enter(rank, "MPI_Allgather", MAIN(3));
		if (is_last)
			return;
		sim_leave(rank);
	}
}

static void test_figure_1(void **state)
{
	struct job *job = job_create();
	struct progress *progress;
	struct eqgroups *groups;
	struct progress_graph *graph;

	(void)state;
	for (int r = 0; r < 10; r++) {
		struct sim_rank *rank = sim_rank_create(r);

		run_figure_1(rank, r == 4 ? 0 : r == 3 || r == 5 ? 1 : 2);
		sim_add(job, rank);
	}
	progress = finish(job);
	assert_int_equal(progress->num_loops, 1);
	assert_int_equal(innermost(progress, 4)->count, 5);
	assert_order(progress, 4, 3);
	assert_order(progress, 5, 0);
	assert_int_equal(progress_compare(progress, 3, 5), PROGRESS_SAME);

	groups = eqgroups_create(progress);
	assert_int_equal(groups->num_groups, 3);
	assert_int_equal(rankset_count(groups->groups[0].ranks), 7);
	assert_int_equal(groups->groups[1].actors[1], 5);
	assert_int_equal(groups->groups[1].activity, ACTIVITY_IN_MPI);
	assert_int_equal(groups->groups[2].activity, ACTIVITY_COMPUTING);
	assert_int_equal(groups->group_of[4], 2);

	/* All others -> {3, 5} -> 4, and no edge that these two imply. */
	graph = progress_graph_create(progress, groups);
	assert_int_equal(graph->num_edges, 2);
	assert_int_equal(graph->edges[0].from, 0);
	assert_int_equal(graph->edges[0].to, 1);
	assert_int_equal(graph->edges[0].loop, LOOP_NONE);
	assert_int_equal(graph->edges[1].from, 1);
	assert_int_equal(graph->edges[1].to, 2);
	assert_true(graph->is_least[2] && !graph->is_least[0] && !graph->is_least[1]);
	progress_graph_destroy(graph);
	eqgroups_destroy(groups);
	progress_destroy(progress);
	job_destroy(job);
}

/* ---- Iterations ------------------------------------------------------------------------------- */

/* for { A; for (trips of this rank) { B; C } D }, stopped in the inner loop. */
static struct sim_rank *run_nested(int number, int outer, int trips, int inner)
{
	struct sim_rank *rank = sim_rank_create(number);

	for (int i = 0; i <= outer; i++) {
		sim_call(rank, "MPI_Barrier", MAIN(1));
		for (int k = 0; k < (i == outer ? inner : trips); k++) {
			sim_call(rank, "MPI_Send", IN(2, 1));
			sim_call(rank, "MPI_Recv", IN(2, 2));
		}
		if (i < outer)
			sim_call(rank, "MPI_Allreduce", MAIN(3));
	}
	sim_enter(rank, "MPI_Send", IN(2, 1));
	return rank;
}

/* Rank 1 made more inner iterations altogether, and yet is behind in this one. */
static void test_inner_counts(void **state)
{
	struct job *job = job_create();
	struct progress *progress;

	(void)state;
	sim_add(job, run_nested(0, 6, 3, 2));
	sim_add(job, run_nested(1, 6, 8, 1));
	sim_add(job, run_nested(2, 5, 9, 7));
	progress = finish(job);
	assert_int_equal(progress->num_loops, 2);
	assert_int_equal(progress->places[0].num_iterations, 2);
	assert_int_equal(progress->places[0].iterations[0].count, 7);
	assert_int_equal(innermost(progress, 0)->count, 3);
	assert_int_equal(innermost(progress, 1)->count, 2);
	assert_int_equal(innermost(progress, 1)->total, 50);
	assert_false(innermost(progress, 1)->is_approximate);
	assert_order(progress, 1, 0);
	assert_order(progress, 2, 1);

	uint32_t loop = LOOP_NONE;

	assert_int_equal(progress_explain(progress, 1, 0, &loop), PROGRESS_LESS);
	assert_int_equal(loop, innermost(progress, 0)->loop);
	progress_destroy(progress);
	job_destroy(job);
}

/* When a ring does not hold the present outer iteration, totals are used and marked. */
static void test_short_ring(void **state)
{
	static const struct {
		size_t max_ring;
		bool is_approximate;
	} cases[] = { { 4, true }, { 5, true }, { 6, true }, { 9, false } };

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = job_create();
		struct sim_rank *rank = run_nested(0, 6, 3, 1);
		struct progress *progress;

		rank->max_ring = cases[i].max_ring;
		sim_add(job, rank);
		sim_add(job, run_nested(1, 6, 3, 2));
		progress = finish(job);
		assert_int_equal(innermost(progress, 0)->is_approximate, cases[i].is_approximate);
		assert_int_equal(innermost(progress, 1)->is_approximate, cases[i].is_approximate);
		assert_int_equal(innermost(progress, 1)->count, cases[i].is_approximate ? 21 : 3);
		assert_int_equal(progress->places[0].iterations[0].count, 7);
		assert_false(progress->places[0].iterations[0].is_approximate);
		assert_order(progress, 0, 1);
		progress_destroy(progress);
		job_destroy(job);
	}
}

/* goto into a loop: entered at its second call by rank 1. */
static void test_goto_loop(void **state)
{
	struct job *job = job_create();
	struct progress *progress;

	(void)state;
	for (int r = 0; r < 3; r++) {
		struct sim_rank *rank = sim_rank_create(r);

		for (int i = 0; i < (r == 2 ? 4 : 5); i++) {
			if (i > 0 || r != 1)
				sim_call(rank, "MPI_Send", MAIN(1));
			sim_call(rank, "MPI_Recv", MAIN(2));
			sim_call(rank, "MPI_Allreduce", MAIN(3));
		}
		sim_enter(rank, "MPI_Send", MAIN(1));
		sim_add(job, rank);
	}
	progress = finish(job);
	assert_int_equal(progress->num_loops, 1);
	assert_true(progress->loops[0].is_irreducible);
	assert_order(progress, 2, 0);
	progress_destroy(progress);
	job_destroy(job);
}

/* ---- Ranks that skip calls -------------------------------------------------------------------- */

/* A line of 5 ranks, each neighbour with its own calls; the ends skip one. */
static void run_line(struct job *job, int number, int iterations, bool has_common)
{
	struct sim_rank *rank = sim_rank_create(number);

	for (int i = 0;; i++) {
		if (number > 0)
			sim_call(rank, "MPI_Recv", IN(1, 1));
		if (i == iterations) {
			sim_enter(rank, number < 4 ? "MPI_Send" : "MPI_Recv",
				  number < 4 ? IN(1, 2) : IN(1, 1));
			break;
		}
		if (number < 4)
			sim_call(rank, "MPI_Send", IN(1, 2));
		if (has_common)
			sim_call(rank, "MPI_Allreduce", MAIN(3));
	}
	sim_add(job, rank);
}

static void test_common_state(void **state)
{
	struct job *job = job_create();
	struct progress *progress;

	(void)state;
	for (int r = 0; r < 5; r++)
		run_line(job, r, r == 2 ? 7 : 8, true);
	progress = finish(job);
	assert_true(progress->loops[0].is_comparable);
	assert_int_equal(progress->loops[0].region, CALLPATH_NONE);
	assert_string_equal(job->model->sites[progress->loops[0].header / 2].name,
			    "MPI_Allreduce");
	for (uint32_t r = 0; r < 5; r++) {
		if (r != 2)
			assert_order(progress, 2, r);
		if (r > 0 && r < 4)
			assert_order(progress, 2, 0);
	}
	assert_int_equal(progress_compare(progress, 1, 3), PROGRESS_SAME);
	assert_int_equal(progress_compare(progress, 0, 3), PROGRESS_SAME);
	progress_destroy(progress);
	job_destroy(job);
}

/* The ends of the line share neither a state nor a function that the loop leaves. */
static void test_nothing_in_common(void **state)
{
	struct job *job = job_create();
	struct progress *progress;

	(void)state;
	for (int r = 0; r < 5; r++)
		run_line(job, r, 5 + r, false);
	progress = finish(job);
	assert_true(progress->num_loops > 0);
	assert_false(progress->loops[0].is_comparable);
	assert_int_equal(progress_compare(progress, 0, 4), PROGRESS_UNORDERED);
	progress_destroy(progress);
	job_destroy(job);
}

/* A chain whose ends have one neighbour, and each neighbour has its own calls: no call is made by all
 * ranks, but all make one of the sends and then one of the receives. */
static void test_first_calls(void **state)
{
	/* Where the compiler put the calls; at last one that it copied for the first rank. */
	static const uint32_t codes[][5] = {
		{ 1, 2, 3, 4, 2 },
		{ 3, 1, 4, 2, 1 },
		{ 1, 2, 3, 4, 5 },
	};

	(void)state;
	for (size_t c = 0; c < NUM_OF(codes); c++) {
		struct job *job = job_create();
		struct progress *progress;

		for (int r = 0; r < 5; r++) {
			struct sim_rank *rank = sim_rank_create(r);

			for (int i = 0; i < (r == 2 ? 15 : 16); i++) {
				for (uint32_t k = 0; k < 4; k++)
					if (k % 2 ? r < 4 : r > 0)
						sim_call(rank, k < 2 ? "MPI_Send" : "MPI_Recv",
							 IN(1, codes[c][r == 0 && k == 1 ? 4 : k]));
			}
			sim_add(job, rank);
		}
		progress = finish(job);
		assert_int_equal(progress->num_loops, 1);
		assert_true(progress->loops[0].is_comparable);
		for (uint32_t r = 0; r < 5; r++) {
			assert_int_equal(innermost(progress, r)->count, r == 2 ? 15 : 16);
			if (r != 2)
				assert_order(progress, 2, r);
		}
		progress_destroy(progress);
		job_destroy(job);
	}
}

/* A square of 2 x 2 ranks exchanges in x, then in y: each rank has one neighbour in x, left or
 * right, with its own call, and all have the function of the exchange in common. */
static void run_square(struct job *job, int number, int iterations)
{
	struct sim_rank *rank = sim_rank_create(number);

	for (int i = 0; i <= iterations; i++) {
		if (i == iterations)
			sim_enter(rank, "MPI_Sendrecv", IN(1, number % 2));
		else
			sim_call(rank, "MPI_Sendrecv", IN(1, number % 2));
		if (i < iterations)
			sim_call(rank, "MPI_Sendrecv", IN(2, number / 2));
	}
	sim_add(job, rank);
}

static void test_region(void **state)
{
	struct job *job = job_create();
	struct progress *progress;

	(void)state;
	for (int r = 0; r < 4; r++)
		run_square(job, r, r == 3 ? 6 : 7);
	progress = finish(job);
	assert_int_equal(progress->num_loops, 1);
	assert_true(progress->loops[0].is_comparable);
	assert_int_not_equal(progress->loops[0].region, CALLPATH_NONE);
	for (uint32_t r = 0; r < 3; r++) {
		assert_int_equal(innermost(progress, r)->count, 8);
		assert_order(progress, 3, r);
	}
	progress_destroy(progress);
	job_destroy(job);
}

/* A grid of ranks without wrap-around: one send in a loop over the neighbours that a rank has, then
 * a receive of its own for each side. The loops of the steps and of the sends begin with one call,
 * and how often a rank makes that depends on its place. Rank `late` stops before step 15's end. */
static void run_grid(struct job *job, int number, const int *dims, int late)
{
	struct sim_rank *rank = sim_rank_create(number);
	int x = number / dims[1], y = number % dims[1];
	bool has[4] = { x > 0, x < dims[0] - 1, y > 0, y < dims[1] - 1 };
	int last = -1;

	for (int i = 0; i < 4; i++)
		if (has[i])
			last = i;
	for (int step = 0; step < 16; step++) {
		for (int i = 0; i < 4; i++)
			if (has[i])
				sim_call(rank, "MPI_Send", IN(1, 1));
		for (int i = 0; i < 4; i++) {
			if (has[i] && step == 15 && i == last && number != late) {
				sim_enter(rank, "MPI_Recv", IN(1, 2 + i));
				sim_add(job, rank);
				return;
			}
			if (has[i])
				sim_call(rank, "MPI_Recv", IN(1, 2 + i));
		}
		if (number == late && step == 14)
			break;
	}
	sim_add(job, rank);
}

static void test_shared_header(void **state)
{
	static const struct {
		int dims[2], late;
	} cases[] = { { { 2, 2 }, 3 }, { { 4, 2 }, 5 }, { { 3, 3 }, 4 }, { { 3, 3 }, 0 } };

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		int num_ranks = cases[i].dims[0] * cases[i].dims[1], late = cases[i].late;
		struct job *job = job_create();
		struct progress *progress;

		for (int r = 0; r < num_ranks; r++)
			run_grid(job, r, cases[i].dims, late);
		progress = finish(job);
		assert_true(progress->loops[0].is_comparable);
		for (int r = 0; r < num_ranks; r++) {
			assert_int_equal(progress->places[r].iterations[0].count,
					 r == late ? 15 : 16);
			if (r != late)
				assert_order(progress, (uint32_t)late, (uint32_t)r);
		}
		/* The sends are a loop inside. */
		assert_int_equal(progress->num_loops, 2);
		assert_int_equal(progress->loops[1].parent, 0);
		progress_destroy(progress);
		job_destroy(job);
	}
}

/* for { if (step % 20) forward(); else exchange(); reverse(); if (step % 50 == 0) print(); }, each a
 * loop over neighbours: most steps begin with a loop of its own. */
static void test_loops_in_functions(void **state)
{
	struct job *job = job_create();
	struct progress *progress;

	(void)state;
	for (int r = 0; r < 4; r++) {
		struct sim_rank *rank = sim_rank_create(r);

		for (int step = 1; step <= 106; step++) {
			for (int i = 0; i < 6; i++) {
				sim_call(rank, "MPI_Recv", IN(step % 20 ? 1 : 4, 1));
				sim_call(rank, "MPI_Send", IN(step % 20 ? 1 : 4, 2));
			}
			if (step == 106 && r == 2)
				break;
			for (int i = 0; i < (step == 106 ? 3 : 6); i++) {
				sim_call(rank, "MPI_Recv", IN(2, 1));
				sim_call(rank, "MPI_Send", IN(2, 2));
			}
			if (step % 50 == 0)
				sim_call(rank, "MPI_Allreduce", IN(3, 1));
		}
		sim_add(job, rank);
	}
	progress = finish(job);
	for (uint32_t r = 0; r < 4; r++) {
		assert_int_equal(progress->places[r].iterations[0].count, 106);
		assert_int_equal(progress->places[r].iterations[1].count, r == 2 ? 6 : 3);
		if (r != 2)
			assert_order(progress, 2, r);
	}
	assert_int_equal(progress->num_loops, 4);
	progress_destroy(progress);
	job_destroy(job);
}

/* for { A; if (seldom) B }: that ranks took B differently often makes it no mark of iterations. */
static void test_seldom_branch(void **state)
{
	struct job *job = job_create();
	struct progress *progress;

	(void)state;
	for (int r = 0; r < 4; r++) {
		struct sim_rank *rank = sim_rank_create(r);

		for (int i = 0; i < (r == 2 ? 40 : 41); i++) {
			sim_call(rank, "MPI_Send", MAIN(1));
			if (i % (5 + r) == 2)
				sim_call(rank, "MPI_Recv", MAIN(2));
		}
		sim_enter(rank, "MPI_Send", MAIN(1));
		sim_add(job, rank);
	}
	progress = finish(job);
	assert_int_equal(progress->num_loops, 1);
	assert_int_equal(innermost(progress, 0)->count, 42);
	assert_int_equal(innermost(progress, 2)->count, 41);
	progress_destroy(progress);
	job_destroy(job);
}

/* for { for (trips of this rank) { A; B } C }: only C is made once in each step. */
static void test_uneven_inner_loop(void **state)
{
	struct job *job = job_create();
	struct progress *progress;

	(void)state;
	for (int r = 0; r < 4; r++) {
		struct sim_rank *rank = sim_rank_create(r);

		for (int i = 0; i < (r == 2 ? 20 : 21); i++) {
			for (int k = 0; k < 2 + r; k++) {
				sim_call(rank, "MPI_Isend", IN(1, 1));
				sim_call(rank, "MPI_Irecv", IN(1, 2));
			}
			sim_call(rank, "MPI_Waitall", IN(1, 3));
		}
		sim_add(job, rank);
	}
	progress = finish(job);
	assert_int_equal(progress->num_loops, 2);
	assert_string_equal(job->model->sites[progress->loops[0].header / 2].name, "MPI_Waitall");
	for (uint32_t r = 0; r < 4; r++) {
		assert_int_equal(progress->places[r].iterations[0].count, r == 2 ? 20 : 21);
		if (r != 2)
			assert_order(progress, 2, r);
	}
	progress_destroy(progress);
	job_destroy(job);
}

/* ---- The frontier ----------------------------------------------------------------------------- */

/* Rank 2 is in a call that nobody came back from, in iteration `stuck`; the others are in iteration
 * `others` of the loop, at its end or at its beginning. */
static struct progress *run_frontier(struct job *job, int stuck, int others, bool at_end,
				     const char *name)
{
	for (int r = 0; r < 4; r++) {
		struct sim_rank *rank = sim_rank_create(r);

		sim_call(rank, "MPI_Init", MAIN(1));
		for (int i = 0; i < (r == 2 ? stuck : others); i++) {
			sim_call(rank, "MPI_Send", MAIN(2));
			sim_call(rank, "MPI_Recv", MAIN(3));
			sim_call(rank, "MPI_Allreduce", MAIN(4));
		}
		sim_call(rank, "MPI_Send", MAIN(2));
		if (r == 2) {
			sim_enter(rank, name, MAIN(9));
			sim_leave(rank);
		} else if (at_end) {
			sim_call(rank, "MPI_Recv", MAIN(3));
			sim_enter(rank, "MPI_Allreduce", MAIN(4));
		}
		sim_add(job, rank);
	}
	return finish(job);
}

static void test_frontier(void **state)
{
	static const struct {
		int stuck, others;
		bool at_end;
		const char *name;
		enum progress_order order;
	} cases[] = {
		{ 4, 5, false, "MPI_Recv", PROGRESS_LESS },
		{ 4, 9, true, "MPI_Recv", PROGRESS_LESS },
		{ 6, 5, true, "MPI_Recv", PROGRESS_MORE },
		/* In the loop or after it? */
		{ 5, 5, true, "MPI_Recv", PROGRESS_UNORDERED },
		/* From there leads a way to the call, whatever it is. */
		{ 5, 5, false, "MPI_Recv", PROGRESS_MORE },
		/* Nothing comes back from that. */
		{ 4, 9, true, "MPI_Finalize", PROGRESS_MORE },
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = job_create();
		struct progress *progress = run_frontier(job, cases[i].stuck, cases[i].others,
							 cases[i].at_end, cases[i].name);

		assert_int_equal(progress_compare(progress, 2, 0), cases[i].order);
		assert_int_equal(progress->places[2].num_iterations, 0);
		if (strcmp(cases[i].name, "MPI_Finalize") != 0) {
			assert_int_equal(progress->places[2].num_frontier, 1);
			assert_int_equal(progress->places[2].frontier[0].count, cases[i].stuck + 1);
		}
		progress_destroy(progress);
		job_destroy(job);
	}
}

/* ---- Roles ------------------------------------------------------------------------------------ */

/* Threads are compared with their like in other ranks only. */
static void test_roles(void **state)
{
	struct job *job = job_create();
	struct progress *progress;

	(void)state;
	for (int r = 0; r < 2; r++) {
		struct sim_rank *rank = sim_rank_create(r);

		sim_call(rank, "MPI_Init", MAIN(1));
		sim_enter(rank, "MPI_Barrier", MAIN(2));
		sim_add_thread(rank);
		for (int i = 0; i < 3 + r; i++)
			sim_call(rank, "MPI_Send", SIM_PATH(5000, 5001));
		sim_add(job, rank);
	}
	progress = finish(job);
	assert_int_equal(job->model->num_lanes, 4);
	assert_int_equal(progress_compare(progress, 0, 1), PROGRESS_UNORDERED);
	assert_int_equal(progress_compare(progress, 0, 2), PROGRESS_SAME);
	assert_order(progress, 1, 3);
	assert_int_equal(progress->num_loops, 1);
	assert_int_equal(progress->loops[0].role, job->model->lanes[1].role);
	progress_destroy(progress);
	job_destroy(job);
}

/* ---- Groups ----------------------------------------------------------------------------------- */

static void test_polling(void **state)
{
	static const struct {
		uint64_t polls, last_poll_ms; /* before now */
		bool in_poll, has_second_look, has_polled;
		enum activity activity;
		uint64_t stay_ms;
	} cases[] = {
		{ 0, 0, false, false, false, ACTIVITY_COMPUTING, 1000 },
		{ 900, 1, false, false, false, ACTIVITY_POLLING, 1000 },
		{ 900, 400, false, false, false, ACTIVITY_COMPUTING, 400 },
		{ 5, 200, false, false, false, ACTIVITY_POLLING, 1000 }, /* every 160 ms */
		{ 0, 0, true, false, false, ACTIVITY_POLLING, 1000 },
		{ 900, 1, false, true, false, ACTIVITY_POLLING, 1000 }, /* off the processor since */
		{ 900, 400, false, true, false, ACTIVITY_COMPUTING, 400 },
		{ 900, 1, false, true, true, ACTIVITY_POLLING, 1000 },
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = job_create();
		struct sim_rank *rank = sim_rank_create(0);
		struct progress *progress;
		struct eqgroups *groups;

		sim_call(rank, "MPI_Isend", MAIN(1));
		sim_stay(rank, 1000);
		sim_lane(rank)->polls = cases[i].polls;
		sim_lane(rank)->last_poll_ns =
			rank->model->now_ns - cases[i].last_poll_ms * SIM_MS;
		sim_lane(rank)->in_poll = cases[i].in_poll;
		sim_add(job, rank);
		job->model->lanes[0].has_second_look = cases[i].has_second_look;
		job->model->lanes[0].has_polled = cases[i].has_polled;
		progress = finish(job);
		groups = eqgroups_create(progress);
		assert_int_equal(groups->num_groups, 1);
		assert_int_equal(groups->groups[0].activity, cases[i].activity);
		assert_int_equal(groups->groups[0].stay_min_ns, cases[i].stay_ms * SIM_MS);
		eqgroups_destroy(groups);
		progress_destroy(progress);
		job_destroy(job);
	}
	eqgroups_destroy(NULL);
	progress_graph_destroy(NULL);
}

/* More groups than are reduced: each rank in an iteration of its own, with edges to the last. */
static void test_many_groups(void **state)
{
	struct job *job = job_create();
	struct progress *progress;
	struct eqgroups *groups;
	struct progress_graph *graph;

	(void)state;
	for (int r = 0; r < 1500; r++) {
		struct sim_rank *rank = sim_rank_create(r);

		sim_call(rank, "MPI_Barrier", MAIN(1));
		for (int i = 0; i < 3; i++)
			sim_call(rank, "MPI_Send", MAIN(2));
		sim_lane(rank)->transitions[4].count += (uint64_t)r;
		sim_add(job, rank);
	}
	progress = finish(job);
	groups = eqgroups_create(progress);
	graph = progress_graph_create(progress, groups);
	assert_int_equal(groups->num_groups, 1500);
	assert_int_equal(graph->num_edges, 1499);
	for (uint32_t i = 0; i < 1500; i++) {
		assert_int_equal(groups->group_of[i], i);
		assert_int_equal(graph->is_least[i], i == 0);
		if (i > 0)
			assert_int_equal(graph->edges[i - 1].from, i);
	}
	progress_graph_destroy(graph);
	eqgroups_destroy(groups);
	progress_destroy(progress);
	job_destroy(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_before_first_call),
		cmocka_unit_test(test_figure_1),
		cmocka_unit_test(test_inner_counts),
		cmocka_unit_test(test_short_ring),
		cmocka_unit_test(test_goto_loop),
		cmocka_unit_test(test_common_state),
		cmocka_unit_test(test_nothing_in_common),
		cmocka_unit_test(test_first_calls),
		cmocka_unit_test(test_region),
		cmocka_unit_test(test_shared_header),
		cmocka_unit_test(test_loops_in_functions),
		cmocka_unit_test(test_seldom_branch),
		cmocka_unit_test(test_uneven_inner_loop),
		cmocka_unit_test(test_frontier),
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_polling),
		cmocka_unit_test(test_many_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
