/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/small_models.h"

static uint32_t sm_local(int comm)
{
	return comm == 0 ? 0 : (uint32_t)comm + 1;
}

static void sm_put_comms(const struct sm_job *job, int self)
{
	const struct sm_rank *rank = &job->ranks[self];
	struct model *model = rank->sim->model;

	model->size = job->size;
	model->num_comms = SM_COMMS + 1;
	model->comms = xcalloc(model->num_comms, sizeof(*model->comms));
	model->members = xcalloc(2, sizeof(*model->members));
	model->num_members = 2;
	model->members[0] = (self + 1) % job->size;
	model->members[1] = (self + job->size - 1) % job->size;
	for (int c = 0; c < SM_COMMS; c++) {
		struct model_comm *comm = &model->comms[sm_local(c)];

		*comm = (struct model_comm){
			.id = SM_WORLD_ID + (uint64_t)c,
			.parent_id = c == 0 ? 0 : SM_WORLD_ID,
			.ordinal = (uint32_t)c,
			.rank = self,
			.size = (uint32_t)job->size,
			.members = SEG_ALL_MEMBERS,
			.num_sources = 2,
			.sources = 0,
			.collectives = rank->collectives[c],
		};
		memcpy(comm->recent, rank->recent[c], sizeof(comm->recent));
	}
	model->comms[1] = (struct model_comm){
		.id = 1000 + (uint64_t)self, .size = 1, .members = 0, .sources = SEG_NO_MEMBERS};
}

static void sm_put_requests(const struct sm_job *job, int self)
{
	const struct sm_rank *rank = &job->ranks[self];
	struct model *model = rank->sim->model;

	model->num_requests = SM_SLOTS + 1;
	model->requests = xcalloc(model->num_requests, sizeof(*model->requests));
	for (int i = 0; i < SM_SLOTS; i++) {
		const struct sm_slot *slot = &rank->slots[i];
		const struct sm_transfer *t = &slot->transfer;

		if (slot->kind == SM_FREE)
			continue;
		model->requests[i] = (struct model_request){
			.kind = slot->kind == SM_COLLECTIVE ? SEG_REQUEST_COLLECTIVE
				: t->is_send                ? SEG_REQUEST_SEND
							    : SEG_REQUEST_RECV,
			.flags = SEG_REQUEST_ACTIVE |
				 (t->is_synchronous ? SEG_REQUEST_SYNCHRONOUS : 0),
			.comm = sm_local(slot->kind == SM_COLLECTIVE ? slot->comm : t->comm),
			.peer = t->peer,
			.tag = t->tag,
			.ordinal = slot->kind == SM_COLLECTIVE ? slot->number : t->ordinal,
			.site = slot->site,
		};
	}
	if (rank->lock.is_held)
		model->requests[SM_SLOTS] = (struct model_request){
			.kind = SEG_REQUEST_LOCK,
			.peer = rank->lock.target,
			.tag = rank->lock.is_exclusive,
		};
}

static struct model_transfer sm_put_transfer(const struct sm_transfer *t)
{
	return (struct model_transfer){
		.comm = sm_local(t->comm),
		.peer = t->peer,
		.tag = t->tag,
		.ordinal = t->ordinal,
		.bytes = 8,
	};
}

static void sm_put_operation(const struct sm_job *job, int self)
{
	const struct sm_rank *rank = &job->ranks[self];
	const struct sm_call *call = &rank->call;
	struct model_lane *lane = sim_lane(rank->sim);
	struct model_operation *op = &lane->operation;

	if (!rank->is_inside || call->is_request)
		return;
	op->transfers[0] = sm_put_transfer(&rank->transfers[0]);
	op->transfers[1] = sm_put_transfer(&rank->transfers[1]);
	if (sm_is_collective(call->kind)) {
		op->kind = SEG_OPERATION_COLLECTIVE;
		op->number = rank->collectives[call->comm];
		op->flags = call->kind == 'n' ? SEG_OPERATION_NEIGHBOURS : 0;
		op->transfers[0] = (struct model_transfer){
			.comm = sm_local(call->comm), .peer = call->peer, .bytes = 8};
	} else if (strchr("sSz", call->kind)) {
		op->kind = SEG_OPERATION_SEND;
	} else if (strchr("rTW", call->kind)) {
		op->kind = SEG_OPERATION_RECV;
	} else if (call->kind == 'q') {
		op->kind = SEG_OPERATION_SENDRECV;
	} else if (call->kind == 'p') {
		op->kind = SEG_OPERATION_PROBE;
		op->transfers[0] = (struct model_transfer){
			.comm = sm_local(call->comm), .peer = call->peer, .tag = call->tag};
	} else if (strchr("lLu", call->kind)) {
		op->kind = SEG_OPERATION_LOCK;
		op->transfers[0] =
			(struct model_transfer){.peer = call->peer, .tag = call->kind == 'L'};
	} else {
		op->kind = call->kind == 'v' ? SEG_OPERATION_WAIT_ANY : SEG_OPERATION_WAIT_ALL;
		op->waited = xcalloc(SM_SLOTS, sizeof(*op->waited));
		for (uint32_t i = 0; i < SM_SLOTS; i++)
			if (rank->slots[i].kind != SM_FREE)
				op->waited[op->num_waited++] = i;
	}
}

void sm_put_rank(struct sm_job *small, int self, uint64_t stay_ms, struct job *job)
{
	struct sm_rank *rank = &small->ranks[self];
	struct model_lane *lane = sim_lane(rank->sim);

	if (rank->call.kind == 'e' && rank->is_done) {
		job_add_hole(job, self, JOB_HOLE_ENDED);
		return;
	}
	sm_put_comms(small, self);
	sm_put_requests(small, self);
	sm_put_operation(small, self);
	lane->ledger = xcalloc(SM_ROWS, sizeof(*lane->ledger));
	memcpy(lane->ledger, rank->rows, rank->num_rows * sizeof(*lane->ledger));
	lane->num_ledger = rank->num_rows;
	if (rank->is_inside && rank->call.kind == 't') {
		lane->poll_site = rank->poll_site;
		lane->polls = 1000;
		lane->in_poll = true;
	}
	if (rank->is_inside && rank->call.kind == 'f')
		rank->sim->model->life = SEG_LIFE_FINALIZING;
	sim_stay(rank->sim, stay_ms);
	sim_add(job, rank->sim);
	rank->sim = NULL;
}

struct job *sm_finish(struct sm_job *small, uint64_t stay_ms)
{
	struct job *job = job_create();

	for (int r = 0; r < small->size; r++)
		sm_put_rank(small, r, stay_ms, job);
	if (job->model)
		job_model_finish(job->model);
	for (size_t l = 0; job->model && l < job->model->num_lanes; l++) {
		struct job_lane *lane = &job->model->lanes[l];

		lane->has_second_look = true;
		lane->has_moved = small->ranks[lane->rank].call.kind == 'm' &&
				  small->ranks[lane->rank].is_done;
	}
	sm_destroy(small);
	return job;
}
