/* SPDX-License-Identifier: BSD-3-Clause
 * The part of a MODEL section that tells who waits for whom. */
#include <string.h>

#include "model/job/model.h"
#include "model/wire/snapshot_private.h"
#include "model/xalloc.h"

enum { COMM_COST = 256 };

/* A list into the model's members, once for all communicators that have it: its first index. */
static uint32_t load_list(struct snapshot_input *in, struct model *model, uint32_t num)
{
	uint64_t id = input_take_below(in, in->num_lists + 1);
	struct snapshot_list *list;

	if (id == SNAPSHOT_LIST_NONE)
		return SEG_NO_MEMBERS;
	if (id == SNAPSHOT_LIST_ALL)
		return SEG_ALL_MEMBERS;
	list = &in->lists[id - 2];
	if (list->num != num || list->num > SEG_MAX_MEMBERS - model->num_members)
		in->is_bad = true;
	if (list->used_by != model && input_charge(in, list->num, sizeof(*list->ranks)) &&
	    !in->is_bad) {
		list->used_by = model;
		list->first = (uint32_t)model->num_members;
		model->members = xreallocarray(model->members, model->num_members + list->num,
					       sizeof(*model->members));
		if (list->num)
			memcpy(model->members + list->first, list->ranks,
			       list->num * sizeof(*list->ranks));
		model->num_members += list->num;
	}
	return in->is_bad ? SEG_NO_MEMBERS : list->first;
}

static void load_collectives(struct snapshot_input *in, struct model_comm *comm)
{
	size_t num;

	comm->collectives = input_take(in);
	num = input_take_count(in, SEG_RECENT, 4);
	for (size_t i = 0; i < num; i++) {
		struct model_collective *started = &comm->recent[i];

		started->number = comm->collectives - input_take_below(in, comm->collectives);
		started->bytes = input_take(in);
		started->site = (uint32_t)input_take_below(in, UINT32_MAX);
		started->root = input_take_int(in);
	}
}

static void load_comm(struct snapshot_input *in, struct model *model, struct model_comm *comm)
{
	uint64_t name;

	comm->id = input_take(in);
	comm->parent_id = input_take(in);
	comm->kind = (enum seg_comm_kind)input_take_below(in, SEG_COMM_FILE);
	comm->site = (uint32_t)input_take_below(in, UINT32_MAX);
	comm->ordinal = (uint32_t)input_take_below(in, UINT32_MAX);
	comm->rank = input_take_int(in);
	comm->size = (uint32_t)input_take_below(in, UINT32_MAX);
	comm->members = load_list(in, model, comm->size);
	comm->remote_size = (uint32_t)input_take_below(in, UINT32_MAX);
	comm->remote_members = load_list(in, model, comm->remote_size);
	comm->num_sources = (uint32_t)input_take_below(in, UINT32_MAX);
	comm->sources = load_list(in, model, comm->num_sources);
	name = input_take_below(in, model->num_strings);
	comm->name = name ? model->strings + (name - 1) : NULL;
	comm->is_freed = input_take_below(in, 1);
	load_collectives(in, comm);
}

static void load_request(struct snapshot_input *in, const struct model *model,
			 struct model_request *request)
{
	request->kind = (enum seg_request_kind)input_take_below(in, SEG_REQUEST_OTHER);
	request->flags = (uint32_t)input_take_below(in, UINT32_MAX);
	request->comm = input_take_index(in, UINT32_MAX);
	request->peer = input_take_int(in);
	request->tag = input_take_int(in);
	request->ordinal = input_take(in);
	request->bytes = input_take(in);
	request->site = (uint32_t)input_take_below(in, UINT32_MAX);
	request->lane = input_take_index(in, UINT32_MAX);
	request->since_ns = model->now_ns - input_take_below(in, model->now_ns);
}

void snapshot_load_evidence(struct snapshot_input *in, struct model *model)
{
	size_t num = input_take_count(in, SEG_MAX_COMMS, 15), slot = 0;

	/* And its place in what is known of all ranks'. */
	input_charge(in, num, COMM_COST);
	model->comms = input_allocate(in, num, sizeof(*model->comms));
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		model->num_comms++;
		load_comm(in, model, &model->comms[i]);
	}
	/* Free slots take no room. */
	num = input_take_below(in, SEG_MAX_REQUESTS);
	model->requests = input_allocate(in, num, sizeof(*model->requests));
	if (in->is_bad)
		return;
	model->num_requests = num;
	for (size_t i = 0; i < num; i++)
		model->requests[i].comm = SEG_NO_COMM;
	num = input_take_count(in, num, 11);
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		slot += input_take_below(in, SEG_MAX_REQUESTS);
		if (slot >= model->num_requests)
			in->is_bad = true;
		else
			load_request(in, model, &model->requests[slot++]);
	}
}

static void load_operation(struct snapshot_input *in, struct model_operation *operation)
{
	size_t num;

	operation->kind = (enum seg_operation_kind)input_take_below(in, SEG_OPERATION_LOCAL);
	operation->flags = (uint32_t)input_take_below(in, UINT32_MAX);
	operation->number = input_take(in);
	for (int i = 0; i < 2; i++) {
		struct model_transfer *transfer = &operation->transfers[i];

		transfer->comm = SEG_NO_COMM;
		if (i >= model_num_transfers(operation->kind))
			continue;
		transfer->comm = input_take_index(in, UINT32_MAX);
		transfer->peer = input_take_int(in);
		transfer->tag = input_take_int(in);
		transfer->ordinal = input_take(in);
		transfer->bytes = input_take(in);
	}
	num = input_take_count(in, SEG_MAX_WAITED, 1);
	operation->waited = input_allocate(in, num, sizeof(*operation->waited));
	if (in->is_bad)
		return;
	operation->num_waited = num;
	for (size_t i = 0; i < num; i++)
		operation->waited[i] = (uint32_t)input_take_below(in, UINT32_MAX);
}

void snapshot_load_lane_evidence(struct snapshot_input *in, struct model_lane *lane)
{
	size_t num;

	lane->last_events = lane->events + input_take(in);
	load_operation(in, &lane->operation);
	lane->dropped_ledger = input_take(in);
	num = input_take_count(in, SEG_MAX_LEDGER, 9);
	lane->ledger = input_allocate(in, num, sizeof(*lane->ledger));
	if (in->is_bad)
		return;
	lane->num_ledger = num;
	for (size_t i = 0; i < num; i++) {
		struct model_ledger *row = &lane->ledger[i];

		row->comm = input_take_index(in, UINT32_MAX);
		row->peer = input_take_int(in);
		row->tag = input_take_int(in);
		row->cancelled = (uint32_t)input_take_below(in, UINT32_MAX);
		row->sends = input_take(in);
		row->sends_done = input_take(in);
		row->receives = input_take(in);
		row->receives_done = input_take(in);
		row->taken = input_take(in);
	}
}
