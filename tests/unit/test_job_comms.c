/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/callpath.h"
#include "model/job_comms.h"
#include "model/share.h"
#include "tests/unit/simulation.h"
#include "tests/unit/unit.h"

enum { WORLD_ID = 100, SELF_ID = 1000, SIZE = 4 };

/* ---- Jobs with communicators ----------------------------------------------------------------- */

static uint32_t add_members(struct model *model, const int *members, size_t num)
{
	uint32_t first = (uint32_t)model->num_members;

	model->members = xreallocarray(model->members, first + num, sizeof(*model->members));
	for (size_t i = 0; i < num; i++)
		model->members[first + i] = members[i];
	model->num_members += num;
	return first;
}

/* comm may be one of the model's. */
static struct model_comm *add_comm(struct model *model, const struct model_comm *comm)
{
	struct model_comm copy = *comm;

	model->comms = xreallocarray(model->comms, model->num_comms + 1, sizeof(*model->comms));
	model->comms[model->num_comms] = copy;
	return &model->comms[model->num_comms++];
}

/* MPI_COMM_WORLD and MPI_COMM_SELF of world rank `rank` of `size`. */
static struct sim_rank *make_rank(int rank, int size, const char *job, uint64_t world)
{
	struct sim_rank *sim = sim_rank_create(rank);
	struct model *model = sim->model;

	model->size = size;
	snprintf(model->program->job, sizeof(model->program->job), "%s", job);
	sim_call(sim, "MPI_Init", SIM_PATH(1));
	add_comm(model, &(struct model_comm){.id = world,
					     .rank = rank,
					     .size = (uint32_t)size,
					     .members = SEG_ALL_MEMBERS,
					     .remote_members = SEG_NO_MEMBERS,
					     .sources = SEG_NO_MEMBERS});
	add_comm(model, &(struct model_comm){.id = world + SELF_ID + (uint64_t)rank,
					     .rank = 0,
					     .size = 1,
					     .members = add_members(model, &rank, 1),
					     .remote_members = SEG_NO_MEMBERS,
					     .sources = SEG_NO_MEMBERS});
	return sim;
}

/* A communicator of some of the world's ranks; entry 2 and further. */
static struct model_comm *split(struct sim_rank *sim, uint64_t id, uint64_t parent,
				const int *members, size_t num)
{
	struct model_comm comm = {
		.id = id,
		.parent_id = parent,
		.ordinal = 1,
		.site = sim_site(sim, "MPI_Comm_split", SIM_PATH(2, 3)),
		.size = (uint32_t)num,
		.members = add_members(sim->model, members, num),
		.remote_members = SEG_NO_MEMBERS,
		.sources = SEG_NO_MEMBERS,
		.rank = -1,
	};

	for (size_t i = 0; i < num; i++)
		if (members[i] == sim->model->rank)
			comm.rank = (int)i;
	return add_comm(sim->model, &comm);
}

static void make_job(struct sim_rank **ranks, int num)
{
	for (int i = 0; i < num; i++)
		ranks[i] = make_rank(i, num, "job@1", WORLD_ID);
}

/* Add them as the job's ranks from `first` on. */
static void add_ranks(struct job *job, struct sim_rank **ranks, int num, int first)
{
	for (int i = 0; i < num; i++) {
		ranks[i]->rank = first + i;
		sim_add(job, ranks[i]);
	}
}

static void drop(struct sim_rank *sim)
{
	model_destroy(sim->model);
	free(sim);
}

static void assert_same_comm(const struct job_comm *a, const struct job_comm *b)
{
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->parent, b->parent);
	assert_int_equal(a->ordinal, b->ordinal);
	assert_int_equal(a->num_views, b->num_views);
	for (int side = 0; side < 2; side++) {
		assert_int_equal(a->sizes[side], b->sizes[side]);
		assert_int_equal(!a->groups[side], !b->groups[side]);
		for (size_t i = 0; a->groups[side] && i < a->sizes[side]; i++)
			assert_int_equal(a->groups[side][i], b->groups[side][i]);
	}
	for (size_t i = 0; i < a->num_views; i++) {
		struct job_comm_view x = job_comm_view(a, i), y = job_comm_view(b, i);

		assert_int_equal(x.rank, y.rank);
		assert_int_equal(x.side, y.side);
		assert_int_equal(x.local, y.local);
	}
}

/* The same job, with what its models have in common in one pool. */
static struct job *put_in_pool(const struct job *job)
{
	struct share *share = share_create();
	struct job *again = job_create();
	struct pdb_error err = {0};

	share_fill(share, job, NULL, SHARE_ANSWERS);
	if (share_to_job(share, again, &err) < 0)
		fail_msg("%s", err.text);
	share_destroy(share);
	return again;
}

/* When models share what they have in common, their communicators are the same. */
static void assert_same_in_pool(const struct job *job, const struct job_comms *comms)
{
	struct job *again = put_in_pool(job);
	struct job_comms *others = job_comms_create(again->model);

	assert_int_equal(others->num_comms, comms->num_comms);
	for (size_t i = 0; i < comms->num_comms; i++)
		assert_same_comm(&comms->comms[i], &others->comms[i]);
	for (size_t l = 0; l < job->model->num_lanes; l++) {
		const struct model *model = job->model->lanes[l].model;
		const struct model *other = again->model->lanes[l].model;

		for (uint32_t c = 0; c <= model->num_comms; c++) {
			assert_int_equal(job_comms_find(comms, model, c),
					 job_comms_find(others, other, c));
			for (int peer = -1; peer < 8; peer++)
				assert_int_equal(job_comms_peer(comms, model, c, peer),
						 job_comms_peer(others, other, c, peer));
		}
	}
	job_comms_destroy(others);
	job_destroy(again);
}

static struct job_comms *finish(struct job *job)
{
	struct job_comms *comms;
	struct pdb_error err = {0};

	job_model_finish(job->model);
	for (size_t i = 0; i < job->model->num_lanes; i++)
		if (model_validate(job->model->lanes[i].model, &err) < 0)
			fail_msg("rank %d: %s", job->model->lanes[i].rank, err.text);
	comms = job_comms_create(job->model);
	assert_same_in_pool(job, comms);
	return comms;
}

static const struct model *model_of(const struct job *job, int rank)
{
	for (size_t i = 0; i < job->model->num_lanes; i++)
		if (job->model->lanes[i].rank == rank)
			return job->model->lanes[i].model;
	fail_msg("no rank %d", rank);
	return NULL;
}

static void assert_group(const struct job_comm *comm, int side, const int *ranks, size_t num)
{
	assert_int_equal(comm->sizes[side], num);
	for (size_t i = 0; i < num; i++)
		assert_int_equal(comm->groups[side][i], ranks[i]);
}

static void assert_view(struct job_comm_view view, int rank, uint32_t local,
			const struct model *model)
{
	assert_int_equal(view.rank, rank);
	assert_int_equal(view.local, local);
	assert_ptr_equal(view.model, model);
	assert_int_equal(job_comm_seen(&view)->rank, model_comm_rank(model, local));
}

/* The comm with this id; NULL: left out. */
static const struct job_comm *with_id(const struct job_comms *comms, uint64_t id)
{
	for (size_t i = 0; i < comms->num_comms; i++)
		if (comms->comms[i].id == id)
			return &comms->comms[i];
	return NULL;
}

/* ---- Tests -------------------------------------------------------------------------------------
 */

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

/* ---- Intercommunicators ---------------------------------------------------------------------- */

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

/* ---- What is left out ------------------------------------------------------------------------ */

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
	static const size_t fit = ((1 << 26) - 1001) / SEG_MAX_MEMBERS;
	struct sim_rank *ranks[1];
	struct job *job = job_create();
	struct job_comms *comms;

	(void)state;
	make_job(ranks, 1);
	for (uint64_t i = 0; i < fit + 5; i++) {
		int self = 0;
		struct model_comm *comm = split(ranks[0], 500 + i, WORLD_ID, &self, 1);

		comm->members = SEG_NO_MEMBERS;
		comm->size = i ? SEG_MAX_MEMBERS : 1000;
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
		cmocka_unit_test(test_world_and_split),
		cmocka_unit_test(test_ranks_missing),
		cmocka_unit_test(test_other_ranks),
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_inter),
		cmocka_unit_test(test_spawn),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
