/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/comm_ranks.h"

static void test_world_and_split(void **state)
{
	static const int even[] = {0, 2}, odd[] = {3, 1}, all[] = {0, 1, 2, 3};
	struct sim_rank *ranks[SIZE];
	struct job *job = job_create();
	struct job_comms *comms;
	const struct job_comm *world, *evens, *odds;

	(void)state;
	make_job(ranks, SIZE);
	for (int i = 0; i < SIZE; i++)
		split(ranks[i], i % 2 ? 201 : 200, WORLD_ID, i % 2 ? odd : even, 2);
	ranks[2]->model->comms[2].name = ranks[2]->model->strings;
	add_ranks(job, ranks, SIZE, 0);
	comms = finish(job);
	assert_int_equal(comms->num_comms, 3);
	world = &comms->comms[0];
	evens = &comms->comms[1];
	odds = &comms->comms[2];
	assert_string_equal(world->name, "MPI_COMM_WORLD");
	assert_null(world->made_by);
	assert_int_equal(world->path, CALLPATH_NONE);
	assert_int_equal(world->parent, SEG_NO_COMM);
	assert_int_equal(world->num_views, 4);
	assert_group(world, 0, all, 4);
	assert_null(world->groups[1]);
	assert_int_equal(evens->id, 200);
	assert_string_equal(evens->made_by, "MPI_Comm_split");
	assert_string_equal(evens->name, "start");
	assert_null(odds->name);
	assert_int_not_equal(evens->path, CALLPATH_NONE);
	assert_int_equal(evens->parent, 0);
	assert_int_equal(evens->ordinal, 1);
	assert_group(evens, 0, even, 2);
	assert_group(odds, 0, odd, 2);
	assert_int_equal(odds->num_views, 2);
	assert_view(job_comm_view(odds, 0), 1, 2, model_of(job, 1));
	assert_view(job_comm_view(odds, 1), 3, 2, model_of(job, 3));
	assert_view(job_comm_view_of(odds, 3), 3, 2, model_of(job, 3));
	assert_null(job_comm_view_of(odds, 2).model);
	assert_null(job_comm_view_of(odds, 0).model);
	assert_null(job_comm_view_of(odds, 4).model);
	assert_null(job_comm_view_of(odds, -1).model);
	assert_int_equal(job_comms_find(comms, model_of(job, 3), 0), 0);
	assert_int_equal(job_comms_find(comms, model_of(job, 3), 1), SEG_NO_COMM);
	assert_int_equal(job_comms_find(comms, model_of(job, 3), 2), 2);
	assert_int_equal(job_comms_find(comms, model_of(job, 2), 2), 1);
	assert_int_equal(job_comms_find(comms, model_of(job, 2), 3), SEG_NO_COMM);
	assert_int_equal(job_comms_find(comms, model_of(job, 2), SEG_NO_COMM), SEG_NO_COMM);
	assert_int_equal(job_comms_peer(comms, model_of(job, 1), 2, 0), 3);
	assert_int_equal(job_comms_peer(comms, model_of(job, 1), 2, 2), -1);
	assert_int_equal(job_comms_peer(comms, model_of(job, 1), 2, SEG_PEER_ANY), -1);
	assert_int_equal(job_comms_peer(comms, model_of(job, 1), 1, 0), 1);
	assert_int_equal(job_comms_peer(comms, model_of(job, 1), 1, 1), -1);
	assert_int_equal(job_comms_peer(comms, model_of(job, 1), 9, 0), -1);
	job_comms_destroy(comms);
	job_comms_destroy(NULL);
	job_destroy(job);
}

/* Ranks 1 and 3 have no recorder, or have left: the lists of the others name them. */
static void test_ranks_missing(void **state)
{
	static const int last[] = {3, 2}, all[] = {0, 1, 2, 3};
	struct sim_rank *ranks[SIZE];
	struct job *job = job_create();
	struct job_comms *comms;

	(void)state;
	make_job(ranks, SIZE);
	split(ranks[2], 200, WORLD_ID, last, 2);
	sim_add(job, ranks[2]);
	sim_add(job, ranks[0]);
	comms = finish(job);
	assert_int_equal(comms->num_comms, 2);
	assert_group(&comms->comms[0], 0, all, 4);
	assert_int_equal(comms->comms[0].num_views, 2);
	assert_int_equal(job_comm_view(&comms->comms[0], 0).rank, 0);
	assert_int_equal(job_comm_view_of(&comms->comms[0], 2).rank, 2);
	assert_non_null(job_comm_view_of(&comms->comms[0], 2).model);
	assert_null(job_comm_view_of(&comms->comms[0], 1).model);
	assert_null(job_comm_view_of(&comms->comms[0], 3).model);
	assert_group(&comms->comms[1], 0, last, 2);
	job_comms_destroy(comms);
	job_destroy(job);
	drop(ranks[1]);
	drop(ranks[3]);
}

/* A world's ranks need not be the job's; nobody knows then who those without a model are. */
static void test_other_ranks(void **state)
{
	static const int shifted[] = {10, 11, 12, 13}, mixed[] = {3, -1, 1, 0};
	struct sim_rank *ranks[SIZE];
	struct job *job = job_create();
	struct job_comms *comms;

	(void)state;
	make_job(ranks, SIZE);
	drop(ranks[2]);
	ranks[2] = ranks[3];
	ranks[2]->model->rank = 3;
	for (int i = 0; i < 3; i++) {
		ranks[i]->rank = 10 + ranks[i]->model->rank;
		sim_add(job, ranks[i]);
	}
	comms = finish(job);
	assert_group(&comms->comms[0], 0, shifted, 4);
	job_comms_destroy(comms);
	job_destroy(job);

	job = job_create();
	make_job(ranks, SIZE);
	for (int i = 0; i < SIZE; i++) {
		ranks[i]->rank = SIZE - 1 - i;
		if (i == 1)
			drop(ranks[i]);
		else
			sim_add(job, ranks[i]);
	}
	comms = finish(job);
	assert_group(&comms->comms[0], 0, mixed, 4);
	assert_int_equal(job_comms_peer(comms, model_of(job, 0), 0, 0), 3);
	job_comms_destroy(comms);
	job_destroy(job);
}

enum { NUM_MANY = 20 };

/* Members and, where it is the third of their communicators and not the second, a star. */
static void assert_views(const char *members, size_t num_runs)
{
	struct sim_rank *ranks[NUM_MANY];
	struct job *job = job_create();
	struct job_comms *comms;
	const struct job_comm *comm;
	int list[NUM_MANY];
	size_t num = 0, seen = 0;

	make_job(ranks, NUM_MANY);
	for (int i = 0; i < NUM_MANY; i++)
		if (members[i] != '.')
			list[num++] = i;
	for (int i = 0; i < NUM_MANY; i++) {
		if (members[i] == '*')
			split(ranks[i], 100 + (uint64_t)i, WORLD_ID, &i, 1);
		if (members[i] != '.')
			split(ranks[i], 50, WORLD_ID, list, num);
	}
	add_ranks(job, ranks, NUM_MANY, 0);
	comms = finish(job);
	comm = with_id(comms, 50);
	assert_non_null(comm);
	assert_int_equal(comm->num_views, num);
	assert_int_equal(comm->num_runs, num_runs);
	for (int i = 0; i < NUM_MANY; i++) {
		uint32_t local = members[i] == '*' ? 3 : 2;

		if (members[i] == '.') {
			assert_null(job_comm_view_of(comm, i).model);
			continue;
		}
		assert_view(job_comm_view(comm, seen++), i, local, model_of(job, i));
		assert_view(job_comm_view_of(comm, i), i, local, model_of(job, i));
	}
	job_comms_destroy(comms);
	job_destroy(job);
}

static void test_views(void **state)
{
	(void)state;
	assert_views("xxxxxxxxxxxxxxxxxxxx", 1);
	assert_views("....x....x....x....x", 1);
	assert_views("x...................", 1);
	assert_views("x..................x", 1);
	assert_views(".xxx....xxxx........", 2);
	assert_views("x.x.x..............x", 2);
	assert_views("xx.x.xx..xx.........", 4);
	assert_views("xxxxx*****xxxxxxxxxx", 3);
	assert_views("*x*x*x*x*x*x*x*x*x*x", 20);
	assert_views("..*..*..*..*........", 1);
}

/* What is one thing in the pool need not be one in all ranks: one has its MPI_COMM_SELF twice. */
static void test_pool(void **state)
{
	struct sim_rank *ranks[SIZE];
	struct job *job = job_create(), *again;
	struct job_comms *comms;

	(void)state;
	make_job(ranks, SIZE);
	add_comm(ranks[2]->model, &ranks[2]->model->comms[1]);
	for (int i = 0; i < SIZE; i++)
		split(ranks[i], 200, WORLD_ID, (const int[]){0, 1, 2, 3}, SIZE);
	add_ranks(job, ranks, SIZE, 0);
	job_model_finish(job->model);
	again = put_in_pool(job);
	comms = job_comms_create(again->model);
	for (int i = 0; i < SIZE; i++) {
		const struct model *model = model_of(again, i);

		assert_int_equal(job_comms_find(comms, model, 0), 0);
		assert_int_equal(job_comms_find(comms, model, 1), SEG_NO_COMM);
		assert_int_equal(job_comms_peer(comms, model, 1, 0), i);
		assert_int_equal(job_comms_find(comms, model, i == 2 ? 3 : 2), 1);
		assert_int_equal(job_comms_peer(comms, model, i == 2 ? 3 : 2, 3), 3);
	}
	assert_ptr_equal(model_comm(model_of(again, 2), 1), model_comm(model_of(again, 2), 2));
	assert_int_equal(job_comms_find(comms, model_of(again, 2), 2), 2);
	job_comms_destroy(comms);
	job_destroy(again);
	job_destroy(job);
}

/* ---- Intercommunicators ---- */

static void add_inter(struct sim_rank *sim, uint64_t id, const int *own, size_t num_own,
		      const int *remote, size_t num_remote)
{
	struct model_comm *comm = split(sim, id, WORLD_ID, own, num_own);

	comm->kind = SEG_COMM_INTER;
	comm->remote_size = (uint32_t)num_remote;
	comm->remote_members = add_members(sim->model, remote, num_remote);
}

static void test_inter(void **state)
{
	static const int low[] = {1, 0}, high[] = {3, 2, 4};
	struct sim_rank *ranks[5];
	struct job *job = job_create();
	struct job_comms *comms;
	const struct job_comm *inter;

	(void)state;
	make_job(ranks, 5);
	for (int i = 0; i < 5; i++) {
		if (i < 2)
			add_inter(ranks[i], 300, low, 2, high, 3);
		else
			add_inter(ranks[i], 300, high, 3, low, 2);
	}
	add_ranks(job, ranks, 5, 0);
	comms = finish(job);
	inter = &comms->comms[1];
	assert_int_equal(inter->kind, SEG_COMM_INTER);
	assert_group(inter, 0, low, 2);
	assert_group(inter, 1, high, 3);
	assert_int_equal(inter->num_views, 5);
	assert_int_equal(job_comm_view_of(inter, 0).side, 0);
	assert_int_equal(job_comm_view_of(inter, 3).side, 1);
	assert_int_equal(job_comms_peer(comms, model_of(job, 0), 2, 2), 4);
	assert_int_equal(job_comms_peer(comms, model_of(job, 0), 2, 3), -1);
	assert_int_equal(job_comms_peer(comms, model_of(job, 2), 2, 0), 1);
	assert_int_equal(job_comms_peer(comms, model_of(job, 2), 2, 2), -1);
	job_comms_destroy(comms);
	job_destroy(job);
}

/* Parents and children of MPI_Comm_spawn each know only their own world, and worlds of one size
 * have the same ids. */
static void test_spawn(void **state)
{
	static const int own[] = {0, 1}, unknown[] = {-1, -1}, parents[] = {0, 1},
			 children[] = {2, 3}, merged[] = {0, 1, 2, 3};
	static const int merged_lists[2][4] = {{0, 1, -1, -1}, {-1, -1, 0, 1}};
	struct sim_rank *ranks[4];
	struct job *job = job_create();
	struct job_comms *comms;

	(void)state;
	for (int i = 0; i < 4; i++) {
		ranks[i] = make_rank(i % 2, 2, i < 2 ? "job@1" : "job@2", WORLD_ID);
		add_inter(ranks[i], 300, own, 2, unknown, 2);
		split(ranks[i], 301, 300, merged_lists[i / 2], 4)->rank = i;
		split(ranks[i], 302, WORLD_ID, own, 2);
	}
	add_ranks(job, ranks, 4, 0);
	comms = finish(job);
	assert_int_equal(comms->num_comms, 6);
	assert_int_equal(comms->comms[0].id, WORLD_ID);
	assert_int_equal(comms->comms[1].id, WORLD_ID);
	assert_string_equal(comms->comms[1].name, "MPI_COMM_WORLD");
	assert_group(&comms->comms[0], 0, parents, 2);
	assert_group(&comms->comms[1], 0, children, 2);
	assert_group(&comms->comms[2], 0, parents, 2);
	assert_group(&comms->comms[2], 1, children, 2);
	assert_int_equal(comms->comms[3].id, 302);
	assert_group(&comms->comms[3], 0, parents, 2);
	assert_int_equal(comms->comms[3].parent, 0);
	assert_group(&comms->comms[4], 0, children, 2);
	assert_int_equal(comms->comms[4].parent, 1);
	assert_group(&comms->comms[5], 0, merged, 4);
	assert_int_equal(comms->comms[5].parent, 2);
	assert_int_equal(job_comms_peer(comms, model_of(job, 3), 2, 1), 1);
	assert_int_equal(job_comms_peer(comms, model_of(job, 0), 2, 1), 3);
	job_comms_destroy(comms);
	job_destroy(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_world_and_split),
		cmocka_unit_test(test_ranks_missing),
		cmocka_unit_test(test_other_ranks),
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_inter),
		cmocka_unit_test(test_spawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
