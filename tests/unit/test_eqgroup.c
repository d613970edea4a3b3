/* SPDX-License-Identifier: BSD-3-Clause
 * Groups of ranks in one place, and what they do there. */
#include "analysis/progress/eqgroup.h"
#include "tests/unit/progress_calls.h"

static void test_polling(void **state)
{
	static const struct {
		uint64_t polls, last_poll_ms; /* before now */
		bool in_poll, has_second_look, has_polled;
		enum activity activity;
		uint64_t stay_ms;
	} cases[] = {
		{0, 0, false, false, false, ACTIVITY_COMPUTING, 1000},
		{900, 1, false, false, false, ACTIVITY_POLLING, 1000},
		{900, 400, false, false, false, ACTIVITY_COMPUTING, 400},
		{5, 200, false, false, false, ACTIVITY_POLLING, 1000}, /* every 160 ms */
		{0, 0, true, false, false, ACTIVITY_POLLING, 1000},
		/* off the processor since */
		{900, 1, false, true, false, ACTIVITY_POLLING, 1000},
		{900, 400, false, true, false, ACTIVITY_COMPUTING, 400},
		{900, 1, false, true, true, ACTIVITY_POLLING, 1000},
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
		sim_lane(rank)->last_poll_ns = rank->model->now_ns - cases[i].last_poll_ms * SIM_MS;
		sim_lane(rank)->in_poll = cases[i].in_poll;
		sim_add(job, rank);
		job->model->lanes[0].has_second_look = cases[i].has_second_look;
		job->model->lanes[0].has_polled = cases[i].has_polled;
		progress = finish(job);
		groups = eqgroups_create(progress);
		assert_int_equal(groups->num_groups, 1);
		assert_int_equal(groups->groups[0].activity, cases[i].activity);
		assert_int_equal(groups->groups[0].stay_min_ns, cases[i].stay_ms * SIM_MS);
		progress_destroy(progress);
		job_destroy(job);
	}
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
	progress_destroy(progress);
	job_destroy(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_polling),
		cmocka_unit_test(test_many_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
