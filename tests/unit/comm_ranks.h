/* SPDX-License-Identifier: BSD-3-Clause
 * Simulated ranks with communicators, and what the job makes of these. */
#ifndef PDB_TESTS_UNIT_COMM_RANKS_H
#define PDB_TESTS_UNIT_COMM_RANKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/job/callpath.h"
#include "model/job/job_comms.h"
#include "model/wire/share.h"
#include "tests/unit/simulation.h"
#include "tests/unit/unit.h"

enum { WORLD_ID = 100, SELF_ID = 1000, SIZE = 4 };

static inline uint32_t add_members(struct model *model, const int *members, size_t num)
{
	uint32_t first = (uint32_t)model->num_members;

	model->members = xreallocarray(model->members, first + num, sizeof(*model->members));
	for (size_t i = 0; i < num; i++)
		model->members[first + i] = members[i];
	model->num_members += num;
	return first;
}

/* comm may be one of the model's. */
static inline struct model_comm *add_comm(struct model *model, const struct model_comm *comm)
{
	struct model_comm copy = *comm;

	model->comms = xreallocarray(model->comms, model->num_comms + 1, sizeof(*model->comms));
	model->comms[model->num_comms] = copy;
	return &model->comms[model->num_comms++];
}

/* MPI_COMM_WORLD and MPI_COMM_SELF of world rank `rank` of `size`. */
static inline struct sim_rank *make_rank(int rank, int size, const char *job, uint64_t world)
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
static inline struct model_comm *split(struct sim_rank *sim, uint64_t id, uint64_t parent,
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

static inline void make_job(struct sim_rank **ranks, int num)
{
	for (int i = 0; i < num; i++)
		ranks[i] = make_rank(i, num, "job@1", WORLD_ID);
}

/* Add them as the job's ranks from `first` on. */
static inline void add_ranks(struct job *job, struct sim_rank **ranks, int num, int first)
{
	for (int i = 0; i < num; i++) {
		ranks[i]->rank = first + i;
		sim_add(job, ranks[i]);
	}
}

static inline void drop(struct sim_rank *sim)
{
	model_destroy(sim->model);
	free(sim);
}

static inline void assert_same_comm(const struct job_comm *a, const struct job_comm *b)
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
static inline struct job *put_in_pool(const struct job *job)
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
static inline void assert_same_in_pool(const struct job *job, const struct job_comms *comms)
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

static inline struct job_comms *finish(struct job *job)
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

static inline void assert_group(const struct job_comm *comm, int side, const int *ranks, size_t num)
{
	assert_int_equal(comm->sizes[side], num);
	for (size_t i = 0; i < num; i++)
		assert_int_equal(comm->groups[side][i], ranks[i]);
}

static inline void assert_view(struct job_comm_view view, int rank, uint32_t local,
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

#endif
