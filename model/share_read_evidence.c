/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "model/share_read.h"
#include "model/xalloc.h"

/* Where each list of the rank begins in the model's members, and how long it is. */
struct place {
	uint32_t first, num;
};

static struct place *read_lists(struct share_reader *r, struct model *model, int rank,
				size_t *num_ret)
{
	struct snapshot_input *in = &r->in;
	size_t num = share_reader_count(r, SHARE_LISTS, rank, SEG_MAX_MEMBERS);
	struct place *places = input_allocate(in, num, sizeof(*places));

	for (size_t i = 0; i < num && !in->is_bad; i++) {
		int64_t expected = 0;
		size_t length;

		share_reader_begin(r, SHARE_LISTS, rank, i);
		length = input_take_count(in, SEG_MAX_MEMBERS - model->num_members, 1);
		if (!input_charge(in, length, sizeof(*model->members)) || in->is_bad)
			break;
		model->members = xreallocarray(model->members, model->num_members + length,
					       sizeof(*model->members));
		places[i] = (struct place){(uint32_t)model->num_members, (uint32_t)length};
		for (size_t k = 0; k < length; k++) {
			int64_t member = expected +
					 input_take_signed(in, -(int64_t)INT32_MAX - 1, INT32_MAX);

			if (member < -1 || member > INT32_MAX)
				in->is_bad = true;
			model->members[model->num_members++] = (int32_t)member;
			expected = member + 1;
		}
		share_reader_end(r);
	}
	*num_ret = num;
	return places;
}

static uint32_t take_list(struct snapshot_input *in, const struct place *places, size_t num_places,
			  uint32_t num)
{
	uint64_t id = input_take_below(in, num_places + 1);

	if (in->is_bad || id < 2)
		return id == 1 ? SEG_ALL_MEMBERS : SEG_NO_MEMBERS;
	if (places[id - 2].num != num)
		in->is_bad = true;
	return places[id - 2].first;
}

static void read_comm(struct share_reader *r, const struct model *model, struct model_comm *comm,
		      const struct place *places, size_t num_places)
{
	struct snapshot_input *in = &r->in;
	uint64_t name;

	comm->id = input_take(in);
	comm->parent_id = input_take(in);
	comm->kind = (enum seg_comm_kind)input_take_below(in, SEG_COMM_FILE);
	comm->site = (uint32_t)input_take_below(in, UINT32_MAX);
	comm->ordinal = (uint32_t)input_take_below(in, UINT32_MAX);
	comm->size = (uint32_t)input_take_below(in, UINT32_MAX);
	comm->members = take_list(in, places, num_places, comm->size);
	comm->remote_size = (uint32_t)input_take_below(in, UINT32_MAX);
	comm->remote_members = take_list(in, places, num_places, comm->remote_size);
	comm->num_sources = (uint32_t)input_take_below(in, UINT32_MAX);
	comm->sources = take_list(in, places, num_places, comm->num_sources);
	name = input_take_below(in, model->num_strings);
	comm->name = name ? model->strings + (name - 1) : NULL;
	comm->is_freed = input_take_below(in, 1);
	share_reader_end(r);
}

static void read_collectives(struct share_reader *r, struct model_comm *comm)
{
	struct snapshot_input *in = &r->in;
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
	share_reader_end(r);
}

static void read_comms(struct share_reader *r, struct model *model, int rank)
{
	struct snapshot_input *in = &r->in;
	size_t num = share_reader_count(r, SHARE_COMMS, rank, SEG_MAX_COMMS), num_places;
	struct place *places = read_lists(r, model, rank, &num_places);

	model->comms = input_allocate(in, num, sizeof(*model->comms));
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		model->num_comms++;
		share_reader_begin(r, SHARE_COMMS, rank, i);
		read_comm(r, model, &model->comms[i], places, num_places);
		share_reader_begin(r, SHARE_COLLECTIVES, rank, i);
		read_collectives(r, &model->comms[i]);
	}
	free(places);
	if (num == 0 || in->is_bad)
		return;
	share_reader_begin(r, SHARE_COMM_RANKS, rank, 0);
	for (size_t i = 0; i < num; i++) {
		struct model_comm *comm = &model->comms[i];
		int64_t expected = comm->members == SEG_ALL_MEMBERS ? model->rank : 0;
		int64_t own = expected + input_take_int(in);

		if (own < -1 || own > INT32_MAX)
			in->is_bad = true;
		comm->rank = (int32_t)own;
	}
	share_reader_end(r);
}

static void read_request(struct share_reader *r, const struct model *model,
			 struct model_request *request)
{
	struct snapshot_input *in = &r->in;

	request->kind = (enum seg_request_kind)input_take_below(in, SEG_REQUEST_OTHER);
	request->flags = (uint32_t)input_take_below(in, UINT32_MAX);
	request->comm = input_take_index(in, UINT32_MAX);
	request->peer = share_reader_peer(r, model, request->comm);
	request->tag = input_take_int(in);
	request->ordinal = input_take(in);
	request->bytes = input_take(in);
	request->site = (uint32_t)input_take_below(in, UINT32_MAX);
	request->lane = input_take_index(in, UINT32_MAX);
	request->since_ns = model->now_ns - input_take_below(in, model->now_ns);
}

static void read_requests(struct share_reader *r, struct model *model, int rank)
{
	struct snapshot_input *in = &r->in;
	size_t num, slot = 0;

	if (in->is_bad || share_reader_count(r, SHARE_REQUESTS, rank, 1) == 0)
		return;
	share_reader_begin(r, SHARE_REQUESTS, rank, 0);
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
			read_request(r, model, &model->requests[slot++]);
	}
	share_reader_end(r);
}

void share_read_evidence(struct share_reader *r, struct model *model, int rank)
{
	read_comms(r, model, rank);
	read_requests(r, model, rank);
}
