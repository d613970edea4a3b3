/* SPDX-License-Identifier: BSD-3-Clause
 * Communicators that are left out, and what becomes of those that belong to them. */
#include "tests/unit/comm_ranks.h"

static void wrong_size(struct model *model)
{
	model->comms[2].size = 2;
}

static void wrong_kind(struct model *model)
{
	model->comms[2].kind = SEG_COMM_WINDOW;
}

static void wrong_rank(struct model *model)
{
	model->comms[2].rank = 0;
}

static void no_id(struct model *model)
{
	model->comms[2].id = 0;
}

static void twice(struct model *model)
{
	add_comm(model, &model->comms[2]);
}

static void inter(struct model *model)
{
	model->comms[2].kind = SEG_COMM_INTER;
	model->comms[2].remote_size = 3;
}

static void own_parent(struct model *model)
{
	model->comms[2].parent_id = 400;
}

static void other_parent(struct model *model)
{
	model->comms[2].parent_id = 12345;
}

static void no_members(struct model *model)
{
	model->comms[2].members = SEG_NO_MEMBERS;
}

static void many(struct model *model)
{
	model->comms[2].size = SEG_MAX_MEMBERS;
	model->comms[2].members = SEG_NO_MEMBERS;
}

/* Rank 1 of three says something else of the communicator {0, 1, 2} than the others. */
static void test_contradictions(void **state)
{
	static const struct {
		const char *what;
		void (*change)(struct model *model);
		bool is_there;
		size_t num_views;
	} table[] = {
		{"size", wrong_size, false, 0},      {"kind", wrong_kind, false, 0},
		{"rank", wrong_rank, false, 0},      {"no id", no_id, true, 2},
		{"twice", twice, false, 0},          {"inter", inter, false, 0},
		{"own parent", own_parent, true, 3}, {"parent", other_parent, true, 3},
		{"no members", no_members, true, 3}, {"many", many, false, 0},
	};
	static const int members[] = {0, 1, 2};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct sim_rank *ranks[3];
		struct job *job = job_create();
		struct job_comms *comms;
		const struct job_comm *found;

		make_job(ranks, 3);
		for (int r = 0; r < 3; r++)
			split(ranks[r], 400, WORLD_ID, members, 3);
		table[i].change(ranks[1]->model);
		/* A child of what may be left out. */
		for (int r = 0; r < 3; r++)
			split(ranks[r], 401, 400, members, 3);
		add_ranks(job, ranks, 3, 0);
		comms = finish(job);
		found = with_id(comms, 400);
		if (!found != !table[i].is_there)
			fail_msg("%s", table[i].what);
		if (found) {
			assert_int_equal(found->num_views, table[i].num_views);
			assert_group(found, 0, members, 3);
		} else {
			assert_int_equal(job_comms_find(comms, model_of(job, 0), 2), SEG_NO_COMM);
			assert_int_equal(job_comms_peer(comms, model_of(job, 0), 2, 1), -1);
		}
		assert_int_equal(with_id(comms, 401)->parent,
				 found ? (uint32_t)(found - comms->comms) : SEG_NO_COMM);
		job_comms_destroy(comms);
		job_destroy(job);
	}
}

/* Communicators that claim more members than can be kept: 64 Mi in all. */
static void test_budget(void **state)
{
	enum { MANY = 1 << 19 }; /* of which one rank may claim 2^21 and some */
	static const size_t fit = ((1 << 21) + 64 + 8 * 11 - 1001) / MANY;
	struct sim_rank *ranks[1];
	struct job *job = job_create();
	struct job_comms *comms;

	(void)state;
	make_job(ranks, 1);
	for (uint64_t i = 0; i < fit + 5; i++) {
		int self = 0;
		struct model_comm *comm = split(ranks[0], 500 + i, WORLD_ID, &self, 1);

		comm->members = SEG_NO_MEMBERS;
		comm->size = i ? MANY : 1000;
		comm->rank = 999;
	}
	add_ranks(job, ranks, 1, 0);
	comms = finish(job);
	assert_int_equal(comms->num_comms, 2 + fit);
	assert_int_equal(comms->comms[1].groups[0][999], 0);
	assert_int_equal(comms->comms[1].groups[0][998], -1);
	assert_int_equal(job_comms_find(comms, model_of(job, 0), fit + 2), fit + 1);
	assert_int_equal(job_comms_find(comms, model_of(job, 0), fit + 3), SEG_NO_COMM);
	job_comms_destroy(comms);
	job_destroy(job);
}

/* Those of all ranks take no room: a large job has many duplicates of its world. */
static void test_duplicates(void **state)
{
	enum { LARGE = 1 << 20, NUM_DUPLICATES = 100 };
	struct sim_rank *rank = make_rank(7, LARGE, "job@1", WORLD_ID);
	struct job *job = job_create();
	struct job_comms *comms;

	(void)state;
	for (uint64_t i = 0; i < NUM_DUPLICATES; i++) {
		struct model_comm *comm = split(rank, 500 + i, WORLD_ID, (const int[]){7}, 1);

		comm->members = SEG_ALL_MEMBERS;
		comm->size = LARGE;
		comm->rank = 7;
	}
	add_ranks(job, &rank, 1, 7);
	job_model_finish(job->model);
	comms = job_comms_create(job->model);
	assert_int_equal(comms->num_comms, 1 + NUM_DUPLICATES);
	for (size_t i = 0; i < comms->num_comms; i++) {
		assert_int_equal(comms->comms[i].sizes[0], LARGE);
		assert_ptr_equal(comms->comms[i].groups[0], comms->comms[0].groups[0]);
	}
	assert_int_equal(comms->comms[0].groups[0][7], 7);
	job_comms_destroy(comms);
	job_destroy(job);
}

/* What a rank makes of MPI_COMM_SELF concerns nobody else. */
static void test_self(void **state)
{
	struct sim_rank *ranks[2];
	struct job *job = job_create();
	struct job_comms *comms;

	(void)state;
	make_job(ranks, 2);
	for (int i = 0; i < 2; i++) {
		uint64_t id = 600 + 10 * (uint64_t)i;

		split(ranks[i], id, WORLD_ID + SELF_ID + (uint64_t)i, &i, 1);
		split(ranks[i], id + 1, id, &i, 1)->kind = SEG_COMM_FILE;
		split(ranks[i], id + 2, WORLD_ID, &i, 1);
	}
	add_ranks(job, ranks, 2, 0);
	comms = finish(job);
	assert_int_equal(comms->num_comms, 3);
	assert_null(with_id(comms, 600));
	assert_null(with_id(comms, 611));
	assert_non_null(with_id(comms, 602));
	assert_non_null(with_id(comms, 612));
	assert_int_equal(job_comms_peer(comms, model_of(job, 1), 3, 0), 1);
	job_comms_destroy(comms);
	job_destroy(job);
}

/* Children come after their parents whatever the order in which ranks have them; a circle is cut.
 */
static void test_order(void **state)
{
	static const int members[] = {0, 1};
	static const struct {
		uint64_t id, parent;
	} table[] = {{705, 704}, {704, 703}, {703, WORLD_ID}, {710, 712},
		     {711, 710}, {712, 711}, {720, 99999}};
	struct sim_rank *ranks[2];
	struct job *job = job_create();
	struct job_comms *comms;
	size_t cut = 0;

	(void)state;
	make_job(ranks, 2);
	for (size_t i = 0; i < NUM_OF(table); i++)
		for (int r = 0; r < 2; r++)
			split(ranks[r], table[i].id, table[i].parent, members, 2);
	add_ranks(job, ranks, 2, 0);
	comms = finish(job);
	assert_int_equal(comms->num_comms, 1 + NUM_OF(table));
	assert_int_equal(comms->comms[0].id, WORLD_ID);
	for (size_t i = 1; i < comms->num_comms; i++) {
		const struct job_comm *comm = &comms->comms[i];

		if (comm->parent == SEG_NO_COMM) {
			cut++;
			continue;
		}
		assert_true(comm->parent < i);
		for (size_t t = 0; t < NUM_OF(table); t++)
			if (table[t].id == comm->id)
				assert_int_equal(comms->comms[comm->parent].id, table[t].parent);
	}
	/* 720, whose parent nobody has, and one of the circle. */
	assert_int_equal(cut, 2);
	job_comms_destroy(comms);
	job_destroy(job);
}

/* Before MPI_Init has returned there are none. */
static void test_none(void **state)
{
	struct sim_rank *sim = sim_rank_create(0);
	struct job *job = job_create();
	struct job_comms *comms;

	(void)state;
	sim_enter(sim, "MPI_Init", SIM_PATH(1));
	sim_add(job, sim);
	comms = finish(job);
	assert_int_equal(comms->num_comms, 0);
	assert_int_equal(job_comms_find(comms, model_of(job, 0), 0), SEG_NO_COMM);
	job_comms_destroy(comms);
	job_destroy(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contradictions), cmocka_unit_test(test_budget),
		cmocka_unit_test(test_duplicates),     cmocka_unit_test(test_self),
		cmocka_unit_test(test_order),          cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
