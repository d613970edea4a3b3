/* SPDX-License-Identifier: BSD-3-Clause
 * Iterations are counted where ranks skip calls: by what all of them have in common. */
#include "model/job/callpath.h"
#include "tests/unit/progress_calls.h"

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
	assert_string_equal(job->model->sites[progress->loops[0].header / 2].name, "MPI_Allreduce");
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

/* A chain whose ends have one neighbour, and each neighbour has its own calls: no call is made
 * by all ranks, but all make one of the sends and then one of the receives. */
static void test_first_calls(void **state)
{
	/* Where the compiler put the calls; at last one that it copied for the first rank. */
	static const uint32_t codes[][5] = {
		{1, 2, 3, 4, 2},
		{3, 1, 4, 2, 1},
		{1, 2, 3, 4, 5},
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
	bool has[4] = {x > 0, x<dims[0] - 1, y> 0, y < dims[1] - 1};
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
	} cases[] = {{{2, 2}, 3}, {{4, 2}, 5}, {{3, 3}, 4}, {{3, 3}, 0}};

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

/* for { if (step % 20) forward(); else exchange(); reverse(); if (step % 50 == 0) print(); },
 * each a loop over neighbours: most steps begin with a loop of its own. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_common_state),  cmocka_unit_test(test_nothing_in_common),
		cmocka_unit_test(test_first_calls),   cmocka_unit_test(test_region),
		cmocka_unit_test(test_shared_header), cmocka_unit_test(test_loops_in_functions),
		cmocka_unit_test(test_seldom_branch), cmocka_unit_test(test_uneven_inner_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
