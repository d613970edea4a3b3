/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/job/callpath.h"
#include "model/job/model.h"
#include "model/job/model_pool.h"
#include "model/trace/trace.h"

static int wrong(struct pdb_error *err, const char *what, size_t index)
{
	return error_set(err, ERROR_FORMAT, "%s %zu is not valid", what, index);
}

enum { MAX_NAME = 4096 };

static bool has_string(const struct model *model, const char *string)
{
	uintptr_t at = (uintptr_t)string, base = (uintptr_t)model->strings;

	if (!string || at < base || at >= base + model->num_strings)
		return false;
	size_t left = base + model->num_strings - at;
	return memchr(string, '\0', left < MAX_NAME ? left : MAX_NAME) != NULL;
}

/* Each path at most so long; parents come first. */
static bool are_short(const struct seg_frame *frames, size_t num)
{
	uint16_t *depths = xcalloc(num, sizeof(*depths));
	bool are = true;

	for (size_t i = 0; i < num && are; i++) {
		depths[i] = frames[i].parent == SEG_NO_FRAME ? 0 : depths[frames[i].parent] + 1;
		are = depths[i] < CALLPATH_MAX_FRAMES;
	}
	free(depths);
	return are;
}

static int validate_tables(const struct model *model, struct pdb_error *err)
{
	if (model->num_modules > SEG_MAX_MODULES || model->num_frames > SEG_MAX_FRAMES ||
	    model->num_sites > SEG_MAX_SITES)
		return error_set(err, ERROR_FORMAT, "a table is too long");
	if (model->num_sites == 0 || model->sites[0].frame != SEG_NO_FRAME)
		return error_set(err, ERROR_FORMAT, "site 0 is missing");
	for (size_t i = 0; i < model->num_modules; i++)
		if (!model->modules[i].path ||
		    model->modules[i].build_id_size > sizeof(model->modules[i].build_id))
			return wrong(err, "module", i);
	for (size_t i = 0; i < model->num_frames; i++) {
		const struct seg_frame *frame = &model->frames[i];

		if ((frame->parent != SEG_NO_FRAME && frame->parent >= i) ||
		    (frame->module != SEG_NO_FRAME && frame->module >= model->num_modules))
			return wrong(err, "frame", i);
	}
	if (!are_short(model->frames, model->num_frames))
		return error_set(err, ERROR_FORMAT, "a call path has more than %d frames",
				 CALLPATH_MAX_FRAMES);
	for (size_t i = 0; i < model->num_sites; i++) {
		const struct model_site *site = &model->sites[i];

		if ((site->frame != SEG_NO_FRAME && site->frame >= model->num_frames) ||
		    !has_string(model, site->name) || site->class_id > SEG_CLASS_ABORT ||
		    site->language > SEG_LANGUAGE_FORTRAN)
			return wrong(err, "site", i);
	}
	return 0;
}

/* Is the list there in full? SEG_ALL_MEMBERS and SEG_NO_MEMBERS are no lists. */
static bool has_members(const struct model *model, uint32_t first, uint32_t num)
{
	size_t most = model->pool ? model->pool->num_members : model->num_members;

	if (num > SEG_MAX_MEMBERS)
		return false;
	if (first == SEG_ALL_MEMBERS || first == SEG_NO_MEMBERS)
		return true;
	if (model->pool && first == MODEL_OWN_MEMBER)
		return num == 1;
	return first <= most && num <= most - first;
}

bool model_has_valid_comm(const struct model *model, const struct model_comm *comm)
{
	if (comm->kind > SEG_COMM_FILE || comm->site >= model->num_sites ||
	    !has_members(model, comm->members, comm->size) ||
	    !has_members(model, comm->remote_members, comm->remote_size) ||
	    comm->sources == SEG_ALL_MEMBERS ||
	    !has_members(model, comm->sources, comm->num_sources) ||
	    comm->destinations == SEG_ALL_MEMBERS ||
	    !has_members(model, comm->destinations, comm->num_destinations) ||
	    (comm->name && !has_string(model, comm->name)))
		return false;
	for (size_t i = 0; i < SEG_RECENT; i++) {
		const struct model_collective *started = &comm->recent[i];

		if (started->number > (i ? started[-1].number : comm->collectives) ||
		    started->site >= model->num_sites)
			return false;
		if (i && started->number && started->number == started[-1].number)
			return false;
	}
	return true;
}

/* peer and tag mean something where there is a communicator. */
static bool is_valid_partner(const struct model *model, uint32_t comm, int32_t peer, int32_t tag)
{
	if (comm == SEG_NO_COMM)
		return true;
	if (comm >= model->num_comms || tag < SEG_TAG_GROUP || peer < SEG_PEER_NONE)
		return false;
	const struct model_comm *at = model_comm(model, comm);
	return peer < 0 ||
	       (uint32_t)peer < (at->kind == SEG_COMM_INTER ? at->remote_size : at->size);
}

static int validate_evidence(const struct model *model, struct pdb_error *err)
{
	if (model->num_comms > SEG_MAX_COMMS || model->num_members > SEG_MAX_MEMBERS ||
	    model->num_requests > SEG_MAX_REQUESTS)
		return error_set(err, ERROR_FORMAT, "a table is too long");
	for (size_t i = 0; i < model->num_members; i++)
		if (model->members[i] < -1)
			return wrong(err, "member", i);
	for (size_t i = 0; i < model->num_comms; i++) {
		int32_t own = model_comm_rank(model, i);

		if (own < -1 || (own >= 0 && (uint32_t)own >= model_comm(model, i)->size) ||
		    (model->comms && !model_has_valid_comm(model, &model->comms[i])))
			return wrong(err, "communicator", i);
	}
	for (size_t i = 0; i < model->num_requests; i++) {
		const struct model_request *request = &model->requests[i];

		if (request->kind == SEG_REQUEST_FREE)
			continue;
		if (request->kind > SEG_REQUEST_OTHER || request->site >= model->num_sites ||
		    (request->lane >= model->num_lanes && request->lane != MODEL_NO_LANE) ||
		    request->since_ns > model->now_ns ||
		    !is_valid_partner(model, request->comm, request->peer, request->tag))
			return wrong(err, "request", i);
	}
	return 0;
}

static bool are_valid_notes(const struct model *model, const struct model_lane *lane)
{
	if (lane->num_notes > MODEL_MAX_NOTES || lane->num_note_entries > MODEL_MAX_NOTED)
		return false;
	for (size_t i = 0; i < lane->num_notes; i++) {
		const struct model_note *note = &lane->notes[i];

		if (note->kind == 0 || note->kind >= SEG_NUM_NOTES || note->num == 0 ||
		    note->comm >= model->num_comms || note->first > lane->num_note_entries ||
		    note->num > lane->num_note_entries - note->first)
			return false;
	}
	return true;
}

static int validate_operation(const struct model *model, const struct model_operation *operation,
			      struct pdb_error *err)
{
	bool waits = operation->kind == SEG_OPERATION_WAIT_ALL ||
		     operation->kind == SEG_OPERATION_WAIT_ANY;

	if (operation->kind > SEG_OPERATION_LOOK || operation->num_waited > SEG_MAX_WAITED ||
	    (operation->num_waited && !waits))
		return error_set(err, ERROR_FORMAT, "its operation is not valid");
	for (int i = 0; i < model_num_transfers(operation->kind); i++) {
		const struct model_transfer *transfer = &operation->transfers[i];

		if (!is_valid_partner(model, transfer->comm, transfer->peer, transfer->tag))
			return wrong(err, "transfer", (size_t)i);
	}
	for (size_t i = 0; i < operation->num_waited; i++) {
		uint32_t slot = operation->waited[i];

		if (slot >= model->num_requests || model->requests[slot].kind == SEG_REQUEST_FREE)
			return wrong(err, "request waited for", i);
	}
	return 0;
}

static int validate_lane(const struct model *model, const struct model_lane *lane,
			 struct pdb_error *err)
{
	uint32_t num_states = (uint32_t)model->num_sites * 2;

	if (lane->state >= num_states || lane->poll_site >= model->num_sites ||
	    lane->num_transitions > MODEL_MAX_TRANSITIONS || lane->num_ring > SEG_MAX_RING)
		return error_set(err, ERROR_FORMAT, "a state or a size of it is out of range");
	if (lane->since_ns > model->now_ns || lane->first_ns > model->now_ns ||
	    lane->last_poll_ns > model->now_ns)
		return error_set(err, ERROR_FORMAT, "a time of it is in the future");
	for (size_t i = 0; !model->pool && i < lane->num_transitions; i++) {
		const struct model_transition *made = &lane->transitions[i];

		if (made->from >= num_states || made->to >= num_states || made->count == 0)
			return wrong(err, "transition", i);
	}
	for (size_t i = 0; !lane->is_borrowing && i < lane->num_ring; i++) {
		const struct model_event *event = &lane->ring[i];

		if (event->state >= num_states || event->ns > model->now_ns ||
		    (i && event->ns < event[-1].ns))
			return wrong(err, "ring entry", i);
	}
	if (lane->num_ring && lane->ring[lane->num_ring - 1].state != lane->state)
		return error_set(err, ERROR_FORMAT, "its ring does not end in its state");
	if (lane->num_ledger > SEG_MAX_LEDGER)
		return error_set(err, ERROR_FORMAT, "its ledger is too long");
	for (size_t i = 0; !model->pool && i < lane->num_ledger; i++) {
		const struct model_ledger *row = &lane->ledger[i];

		if (!is_valid_partner(model, row->comm, row->peer, row->tag))
			return wrong(err, "row of the ledger", i);
	}
	if (!are_valid_notes(model, lane))
		return error_set(err, ERROR_FORMAT, "its notes of collectives are not valid");
	return validate_operation(model, &lane->operation, err);
}

static bool is_valid_symbol(const struct model *model, uint32_t symbol)
{
	uint32_t id = SEG_TRACE_ID(symbol);

	switch (SEG_TRACE_KIND(symbol)) {
	case SEG_TRACE_CALL:
		return id < model->num_sites;
	case SEG_TRACE_ENTER:
	case SEG_TRACE_LEAVE:
		return id < model->num_frames && model->frames[id].parent == SEG_NO_FRAME;
	}
	return false;
}

static bool are_valid_symbols(const struct model *model, const struct trace_element *row,
			      size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (!TRACE_IS_LOOP(row[i].symbol) && !is_valid_symbol(model, row[i].symbol))
			return false;
	return true;
}

int model_validate_trace(const struct model *model, const struct trace *trace,
			 struct pdb_error *err)
{
	if (are_valid_symbols(model, trace->sequence, trace->num) &&
	    are_valid_symbols(model, trace->elements, trace->num_elements))
		return 0;
	return error_set(err, ERROR_FORMAT,
			 "the trace is corrupt: a call or function that is not known");
}

int model_validate(const struct model *model, struct pdb_error *err)
{
	/* Those of a lender have been checked with it, and are shared by many. */
	if (!model->lender && validate_tables(model, err) < 0)
		return -1;
	if (model->num_lanes > SEG_MAX_LANES)
		return error_set(err, ERROR_FORMAT, "a table is too long");
	if (validate_evidence(model, err) < 0)
		return -1;
	for (size_t i = 0; i < model->num_lanes; i++)
		if (validate_lane(model, &model->lanes[i], err) < 0)
			return error_prefix(err, "lane %zu", i);
	return 0;
}
