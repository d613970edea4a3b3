/* SPDX-License-Identifier: BSD-3-Clause
 * Who is behind whom: by loops and their iterations, by the frontier, within a role. */
#include "analysis/progress/eqgroup.h"
#include "analysis/progress/loop_nest.h"
#include "model/job/rankset.h"
#include "tests/unit/progress_calls.h"

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

/* ---- Figure 1 of the Prodometer paper ---- */

/* while { Isend; Irecv; Waitall; Allgather }: rank 4 never gets to Irecv, its neighbours wait
 * for it in Waitall, all others are in Allgather. */
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
	progress_destroy(progress);
	job_destroy(job);
}

/* ---- Iterations ---- */

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
	} cases[] = {{4, true}, {5, true}, {6, true}, {9, false}};

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

/* ---- The frontier ---- */

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
		{4, 5, false, "MPI_Recv", PROGRESS_LESS},
		{4, 9, true, "MPI_Recv", PROGRESS_LESS},
		{6, 5, true, "MPI_Recv", PROGRESS_MORE},
		/* In the loop or after it? */
		{5, 5, true, "MPI_Recv", PROGRESS_UNORDERED},
		/* From there leads a way to the call, whatever it is. */
		{5, 5, false, "MPI_Recv", PROGRESS_MORE},
		/* Nothing comes back from that. */
		{4, 9, true, "MPI_Finalize", PROGRESS_MORE},
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

/* ---- Roles ---- */

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),    cmocka_unit_test(test_before_first_call),
		cmocka_unit_test(test_figure_1),   cmocka_unit_test(test_inner_counts),
		cmocka_unit_test(test_short_ring), cmocka_unit_test(test_goto_loop),
		cmocka_unit_test(test_frontier),   cmocka_unit_test(test_roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
