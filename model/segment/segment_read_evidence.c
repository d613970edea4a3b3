/* SPDX-License-Identifier: BSD-3-Clause
 * Who waits for whom, out of a segment: communicators and their collectives, requests, and of each
 * lane the operation in progress and the ledger of messages.
 *
 * An index beyond its table makes the segment corrupt, here or by model_validate(). A value that
 * is not known, or a slot whose lock cannot be had, is no error but no evidence either: a request
 * becomes SEG_REQUEST_OTHER and who waits for it incomplete, an operation SEG_OPERATION_OTHER, a
 * communicator loses its id, a row of the ledger counts as dropped. */

#include "model/job/model.h"
#include "model/segment/segment_private.h"

/* Where an operation is, and the slots it waits for. */
struct operation_copy {
	uint64_t base; /* of the lane */
	struct raw_lane *raw;
};

static int copy_waited(struct reader *r, void *of)
{
	const struct operation_copy *copy = of;
	struct raw_lane *raw = copy->raw;
	const struct seg_table *table = &raw->head.tables[SEG_LANE_WAITED];
	uint64_t num = raw->operation.num_waited;

	raw->num_waited = num < table->capacity ? num : table->capacity;
	raw->waited = xreallocarray(raw->waited, raw->num_waited, sizeof(*raw->waited));
	return reader_copy_lane_entries(r, copy->base, &raw->head, SEG_LANE_WAITED, 0,
					raw->num_waited, raw->waited);
}

int reader_read_lane_evidence(struct reader *r, uint64_t base, struct raw_lane *raw)
{
	const struct seg_table *waited = &raw->head.tables[SEG_LANE_WAITED];
	struct operation_copy copy = {.base = base, .raw = raw};
	const struct reader_locked operation = {
		.at = base + offsetof(struct seg_lane, operation),
		.size = sizeof(raw->operation),
		.to = &raw->operation,
		.more = copy_waited,
		.of = &copy,
	};

	if (reader_check_lane_table(r, &raw->head, SEG_LANE_WAITED, waited->capacity) < 0 ||
	    reader_copy_under_lock(r, &operation, &raw->has_operation) < 0 ||
	    reader_spend(r, raw->num_waited * 2 * sizeof(*raw->waited)) < 0)
		return -1;
	if (raw->has_operation && raw->operation.num_waited > waited->capacity)
		return READER_CORRUPT(r, "%u of %u requests waited for", raw->operation.num_waited,
				      waited->capacity);
	raw->num_ledger = raw->head.tables[SEG_LANE_LEDGER].count;
	raw->ledger = reader_copy_lane_table(r, base, raw, SEG_LANE_LEDGER, raw->num_ledger);
	return raw->ledger ? reader_spend(r, raw->num_ledger * sizeof(struct model_ledger)) : -1;
}

int reader_read_evidence(struct reader *r)
{
	r->requests = reader_copy_locked(r, SEG_TABLE_REQUESTS, &r->num_requests, &r->has_request);
	if (!r->requests)
		return -1;
	r->comms = reader_copy_locked(r, SEG_TABLE_COMMS, &r->num_comms, &r->has_comm);
	if (!r->comms)
		return -1;
	return reader_take_count(r, SEG_TABLE_MEMBERS);
}

static int finish_members(struct reader *r)
{
	struct model *model = r->model;

	model->members = reader_copy_table(r, SEG_TABLE_MEMBERS, &model->num_members);
	if (!model->members)
		return -1;
	for (size_t i = 0; i < model->num_members; i++)
		if (model->members[i] < 0)
			model->members[i] = -1;
	return 0;
}

static int finish_collectives(struct reader *r, const struct seg_comm *raw, struct model_comm *comm)
{
	size_t num = 0;

	comm->collectives = raw->collectives;
	for (uint64_t i = 0; i < SEG_RECENT && i < raw->collectives; i++) {
		uint64_t number = raw->collectives - i;
		const struct seg_collective *started = &raw->recent[number % SEG_RECENT];

		if (started->number != number)
			continue;
		if (started->site >= r->model->num_sites)
			return -1;
		comm->recent[num++] = (struct model_collective){
			.number = number,
			.bytes = started->bytes,
			.site = started->site,
			.root = started->root,
		};
	}
	return 0;
}

static int finish_comm(struct reader *r, size_t index)
{
	const struct seg_comm *raw = &r->comms[index];
	const struct model *model = r->model;
	struct model_comm *comm = &r->model->comms[index];

	*comm = (struct model_comm){
		.id = raw->id,
		.parent_id = raw->parent_id,
		.kind = raw->kind <= SEG_COMM_FILE ? raw->kind : SEG_COMM_INTRA,
		.site = raw->site,
		.ordinal = raw->ordinal,
		.rank = raw->rank,
		.size = raw->size,
		.members = raw->members,
		.remote_size = raw->remote_size,
		.remote_members = raw->remote_members,
		.num_sources = raw->num_sources,
		.sources = raw->sources,
		.destinations = SEG_NO_MEMBERS,
		.name = raw->name ? model->strings + raw->name : NULL,
		.is_freed = raw->is_freed != 0,
	};
	if (raw->num_destinations > 0 && raw->sources < SEG_MAX_MEMBERS &&
	    raw->num_sources <= SEG_MAX_MEMBERS) {
		comm->num_destinations = raw->num_destinations;
		comm->destinations = raw->sources + raw->num_sources;
	}
	if (raw->name >= model->num_strings)
		return reader_bad_entry(r, "communicator", index);
	if (comm->rank < 0 || (uint32_t)comm->rank >= comm->size) {
		comm->rank = -1;
		comm->id = 0;
	}
	/* Nothing may be concluded from counts that are not known. */
	if (raw->kind > SEG_COMM_FILE || !r->has_comm[index])
		comm->id = 0;
	else if (finish_collectives(r, raw, comm) < 0)
		return reader_bad_entry(r, "communicator", index);
	return 0;
}

static int finish_comms(struct reader *r)
{
	if (reader_spend(r, r->num_comms * sizeof(*r->model->comms)) < 0)
		return -1;
	r->model->comms = xcalloc(r->num_comms, sizeof(*r->model->comms));
	r->model->num_comms = r->num_comms;
	for (size_t i = 0; i < r->num_comms; i++)
		if (finish_comm(r, i) < 0)
			return -1;
	return 0;
}

/* Is it a rank that the communicator has, or one of enum seg_peer? */
static bool is_known_peer(const struct model_comm *comm, int32_t peer)
{
	uint32_t size = comm->kind == SEG_COMM_INTER ? comm->remote_size : comm->size;

	return peer < 0 ? peer >= SEG_PEER_NONE : (uint32_t)peer < size;
}

/* The communicator to go by: SEG_NO_COMM where the peer or the tag is not known. -1: corrupt. */
static int check_partner(const struct model *model, uint32_t comm, int32_t peer, int32_t tag,
			 uint32_t *comm_ret)
{
	if (comm != SEG_NO_COMM && comm >= model->num_comms)
		return -1;
	if (comm != SEG_NO_COMM &&
	    (!is_known_peer(&model->comms[comm], peer) || tag < SEG_TAG_GROUP))
		comm = SEG_NO_COMM;
	*comm_ret = comm;
	return 0;
}

static bool is_known_request(const struct reader *r, size_t slot)
{
	return r->has_request[slot] && r->requests[slot].kind <= SEG_REQUEST_OTHER;
}

static int finish_request(struct reader *r, size_t slot, const struct segment_clock *clock)
{
	static const uint32_t known_flags = SEG_REQUEST_PERSISTENT | SEG_REQUEST_ACTIVE |
					    SEG_REQUEST_PARTITIONED | SEG_REQUEST_NEIGHBOURS |
					    SEG_REQUEST_CANCELLED | SEG_REQUEST_SYNCHRONOUS;
	const struct seg_request *raw = &r->requests[slot];
	struct model_request *request = &r->model->requests[slot];
	bool has_lane = raw->lane < r->model->num_lanes;

	request->comm = SEG_NO_COMM;
	if (!is_known_request(r, slot)) {
		request->kind = SEG_REQUEST_OTHER;
		return 0;
	}
	if (raw->kind == SEG_REQUEST_FREE)
		return 0;
	*request = (struct model_request){
		.kind = raw->kind,
		.flags = raw->flags & known_flags,
		.peer = raw->peer,
		.tag = raw->tag,
		/* A thread may have begun after the lanes were counted. */
		.lane = has_lane ? raw->lane : MODEL_NO_LANE,
		.ordinal = has_lane || raw->kind == SEG_REQUEST_COLLECTIVE ? raw->ordinal : 0,
		.bytes = raw->bytes,
		.site = raw->site,
		.since_ns = segment_clock_time(clock, raw->ticks),
	};
	if (raw->site >= r->model->num_sites ||
	    check_partner(r->model, raw->comm, raw->peer, raw->tag, &request->comm) < 0)
		return reader_bad_entry(r, "request", slot);
	return 0;
}

static int finish_requests(struct reader *r, const struct segment_clock *clock)
{
	struct model *model = r->model;

	if (reader_spend(r, r->num_requests * sizeof(*model->requests)) < 0)
		return -1;
	model->requests = xcalloc(r->num_requests, sizeof(*model->requests));
	model->num_requests = r->num_requests;
	for (size_t i = 0; i < r->num_requests; i++)
		if (finish_request(r, i, clock) < 0)
			return -1;
	return 0;
}

/* Is the operation that of the present stay, or the last poll of it? */
static bool is_current(const struct raw_lane *raw)
{
	const struct seg_current *current = &raw->current;

	return raw->has_operation && raw->head.use == SEG_LANE_ACTIVE &&
	       raw->operation.event == current->events &&
	       raw->operation.kind <= SEG_OPERATION_LOOK &&
	       (!SEG_STATE_IS_EXIT(current->state) || current->poll_site != 0);
}

static void finish_waited(struct reader *r, const struct raw_lane *raw,
			  struct model_operation *operation)
{
	const struct seg_current *current = &raw->current;
	/* The latest that a request can have been started at which the lane waits for. */
	uint64_t latest = SEG_STATE_IS_EXIT(current->state) ? current->poll_ticks : current->since;

	operation->waited = xcalloc(raw->num_waited, sizeof(*operation->waited));
	for (size_t i = 0; i < raw->num_waited; i++) {
		uint32_t slot = raw->waited[i];

		/* One that is on its way out of the call may have completed and freed it by now,
		 * and another thread may have got the slot. */
		if (slot < r->num_requests && r->model->requests[slot].kind != SEG_REQUEST_FREE &&
		    r->requests[slot].ticks <= latest)
			operation->waited[operation->num_waited++] = slot;
		else
			operation->flags |= SEG_OPERATION_INCOMPLETE;
		if (slot < r->num_requests && !is_known_request(r, slot))
			operation->flags |= SEG_OPERATION_INCOMPLETE;
	}
}

static int finish_transfer(struct reader *r, const struct seg_transfer *raw,
			   struct model_transfer *transfer)
{
	*transfer = (struct model_transfer){
		.peer = raw->peer,
		.tag = raw->tag,
		.ordinal = raw->ordinal,
		.bytes = raw->bytes,
	};
	return check_partner(r->model, raw->comm, raw->peer, raw->tag, &transfer->comm);
}

static int finish_operation(struct reader *r, const struct raw_lane *raw,
			    struct model_operation *operation)
{
	static const uint32_t known_flags = SEG_OPERATION_INCOMPLETE | SEG_OPERATION_NEIGHBOURS |
					    SEG_OPERATION_BUFFERED | SEG_OPERATION_SYNCHRONOUS;

	operation->transfers[0].comm = operation->transfers[1].comm = SEG_NO_COMM;
	if (!is_current(raw))
		return 0;
	operation->kind = raw->operation.kind;
	operation->flags = raw->operation.flags & known_flags;
	if (operation->kind == SEG_OPERATION_COLLECTIVE)
		operation->number = raw->operation.number;
	if (operation->kind == SEG_OPERATION_WAIT_ALL || operation->kind == SEG_OPERATION_WAIT_ANY)
		finish_waited(r, raw, operation);
	for (int i = 0; i < model_num_transfers(operation->kind); i++)
		if (finish_transfer(r, &raw->operation.transfers[i], &operation->transfers[i]) < 0)
			return -1;
	return 0;
}

/* Nothing was counted, or it is forgotten with a communicator that had the entry before. */
static bool is_empty_row(const struct seg_ledger *row)
{
	return (row->cancelled | row->sends | row->sends_done | row->receives | row->receives_done |
		row->taken) == 0;
}

static int finish_ledger(struct reader *r, const struct raw_lane *raw, struct model_lane *lane)
{
	lane->dropped_ledger = raw->head.tables[SEG_LANE_LEDGER].dropped;
	lane->ledger = xcalloc(raw->num_ledger, sizeof(*lane->ledger));
	for (size_t i = 0; i < raw->num_ledger; i++) {
		const struct seg_ledger *row = &raw->ledger[i];
		uint32_t comm;

		if (check_partner(r->model, row->comm, row->peer, row->tag, &comm) < 0)
			return -1;
		if (comm != row->comm) {
			lane->dropped_ledger += !is_empty_row(row);
			continue;
		}
		lane->ledger[lane->num_ledger++] = (struct model_ledger){
			.comm = comm,
			.peer = row->peer,
			.tag = row->tag,
			.cancelled = row->cancelled,
			.sends = row->sends,
			.sends_done = row->sends_done,
			.receives = row->receives,
			.receives_done = row->receives_done,
			.taken = row->taken,
		};
	}
	return 0;
}

int reader_finish_evidence(struct reader *r, const struct segment_clock *clock)
{
	struct model *model = r->model;

	if (finish_members(r) < 0 || finish_comms(r) < 0 || finish_requests(r, clock) < 0)
		return -1;
	for (size_t i = 0; i < model->num_lanes; i++) {
		struct model_lane *lane = &model->lanes[i];

		if (finish_operation(r, &r->raw[i], &lane->operation) < 0)
			return reader_bad_entry(r, "operation of lane", i);
		if (finish_ledger(r, &r->raw[i], lane) < 0)
			return reader_bad_entry(r, "ledger of lane", i);
		if (reader_finish_notes(r, i) < 0)
			return -1;
	}
	model->program->dropped_comms =
		r->header.tables[SEG_TABLE_COMMS].dropped + (r->header.reused_comms > 0);
	model->program->dropped_members = r->header.tables[SEG_TABLE_MEMBERS].dropped;
	model->program->dropped_requests = r->header.tables[SEG_TABLE_REQUESTS].dropped;
	return 0;
}
