/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/job/model.h"
#include "model/job/model_pool.h"
#include "model/trace/trace.h"

struct model *model_create(void)
{
	struct model *model = xcalloc(1, sizeof(*model));

	model->program = xcalloc(1, sizeof(*model->program));
	return model;
}

struct model *model_create_in(struct model_pool *pool)
{
	struct model *model = arena_alloc(pool->arena, sizeof(*model));

	model->pool = model_pool_use(pool);
	return model;
}

int model_num_transfers(enum seg_operation_kind kind)
{
	static const int nums[SEG_OPERATION_LOOK + 1] = {
		[SEG_OPERATION_SEND] = 1,       [SEG_OPERATION_RECV] = 1,
		[SEG_OPERATION_SENDRECV] = 2,   [SEG_OPERATION_PROBE] = 1,
		[SEG_OPERATION_COLLECTIVE] = 1, [SEG_OPERATION_LOCK] = 1,
		[SEG_OPERATION_LOOK] = 1,
	};

	return kind <= SEG_OPERATION_LOOK ? nums[kind] : 0;
}

bool model_is_in_collective(const struct model *model, uint32_t comm, uint64_t number)
{
	const struct model_collective *latest = model_comm(model, comm)->recent;

	for (size_t i = 0; i < model->num_lanes; i++) {
		const struct model_lane *lane = &model->lanes[i];
		const struct model_operation *operation = &lane->operation;

		if (SEG_STATE_IS_EXIT(lane->state))
			continue;
		if (operation->kind == SEG_OPERATION_COLLECTIVE) {
			if (operation->transfers[0].comm == comm && operation->number == number)
				return true;
		} else if (number && latest->number == number &&
			   latest->site == SEG_STATE_SITE(lane->state)) {
			/* Of a call as MPI_Comm_spawn it is not recorded what it needs. */
			return true;
		}
	}
	return false;
}

bool model_has_begun_collective(const struct model *model, uint32_t comm, uint64_t number)
{
	for (size_t i = 0; i < model->num_requests; i++) {
		const struct model_request *request = &model->requests[i];

		if (request->kind == SEG_REQUEST_COLLECTIVE &&
		    (request->flags & SEG_REQUEST_ACTIVE) && request->comm == comm &&
		    (number == 0 || request->ordinal == number))
			return true;
	}
	return false;
}

void model_borrow_tables(struct model *model, struct model *lender)
{
	model->lender = lender;
	lender->num_borrowers++;
	model->strings = lender->strings;
	model->num_strings = lender->num_strings;
	model->modules = lender->modules;
	model->num_modules = lender->num_modules;
	model->frames = lender->frames;
	model->num_frames = lender->num_frames;
	model->sites = lender->sites;
	model->num_sites = lender->num_sites;
}

const struct model_comm *model_comm(const struct model *model, size_t index)
{
	return model->pool_comms ? &model->pool->comms[model->pool_comms[index]]
				 : &model->comms[index];
}

int32_t model_comm_rank(const struct model *model, size_t index)
{
	const struct model_comm *comm = model_comm(model, index);
	int32_t from_world = comm->members == SEG_ALL_MEMBERS ? model->rank : 0;

	return model->pool_comms ? model->pool_ranks[index] + from_world : comm->rank;
}

const int32_t *model_members(const struct model *model, uint32_t first)
{
	if (first == MODEL_OWN_MEMBER)
		return &model->rank;
	return (model->pool_comms ? model->pool->members : model->members) + first;
}

int32_t model_ledger_peer(const struct model *model, const struct model_ledger *row)
{
	int32_t peer;

	if (!row->is_distance)
		return row->peer;
	peer = row->comm < model->num_comms ? model_comm_rank(model, row->comm) : 0;
	peer = row->peer + (peer > 0 ? peer : 0);
	return peer < 0 ? SEG_PEER_NONE : peer;
}

uint64_t model_lane_stay(const struct model_lane *lane, uint32_t state)
{
	if (lane->longest_ns)
		return lane->longest_ns[state];
	return state == lane->longest.state ? lane->longest.ns : 0;
}

struct model_stay model_lane_longest(const struct model *model, const struct model_lane *lane)
{
	struct model_stay stay = {.state = lane->state};

	if (!lane->longest_ns)
		return lane->longest;
	stay.ns = lane->longest_ns[lane->state];
	if (lane->polls > 0 && SEG_STATE_IS_EXIT(lane->state) &&
	    lane->state_polls[lane->state] > stay.ns)
		stay.ns = lane->state_polls[lane->state];
	if (stay.ns)
		return stay;
	for (uint32_t s = lane->state & 1; s < 2 * model->num_sites; s += 2)
		if (lane->longest_ns[s] > stay.ns)
			stay = (struct model_stay){s, lane->longest_ns[s]};
	return stay;
}

static void destroy_tables(struct model *model)
{
	for (size_t i = 0; i < model->num_modules; i++)
		free(model->modules[i].path);
	free(model->strings);
	free(model->modules);
	free(model->frames);
	free(model->sites);
}

bool model_has_details(const struct model *model)
{
	return model->num_lanes > 0 && !model->lanes[0].is_borrowing;
}

void model_lane_free_details(struct model_lane *lane)
{
	free(lane->longest_ns);
	if (lane->is_borrowing)
		return;
	free(lane->state_polls);
	free(lane->ring);
}

static void destroy_lane(const struct model *model, struct model_lane *lane)
{
	free(lane->operation.waited);
	free(lane->notes);
	free(lane->note_entries);
	model_lane_free_details(lane);
	trace_destroy(lane->trace);
	free(lane->trace_note);
	if (!model->pool) {
		free(lane->ledger);
		free(lane->transitions);
	}
}

/* What is not of the pool, if there is one. */
static void destroy_own(struct model *model)
{
	for (size_t i = 0; i < model->num_lanes; i++)
		destroy_lane(model, &model->lanes[i]);
	free(model->comms);
	free(model->members);
	free(model->requests);
	if (model->pool)
		return;
	free(model->program);
	free(model->lanes);
	free(model);
}

void model_destroy(struct model *model)
{
	struct model_pool *pool;

	if (!model)
		return;
	/* The one that owns it and each borrower destroy it once. */
	if (model->num_borrowers > 0) {
		model->num_borrowers--;
		return;
	}
	if (model->lender)
		model_destroy(model->lender);
	else
		destroy_tables(model);
	pool = model->pool;
	destroy_own(model);
	model_pool_release(pool);
}
