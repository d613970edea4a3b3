/* SPDX-License-Identifier: BSD-3-Clause
 * What a rank has begun and not completed. */
#include "analysis/waits/message_pairs.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "render/words/parts.h"

static const struct table_column columns[] = {
	{.name = "kind", .header = "request", .min_width = 7},
	{.name = "peer", .header = "peer", .align = TABLE_RIGHT},
	{.name = "tag", .header = "tag", .align = TABLE_RIGHT},
	{.name = "comm", .header = "on", .flags = TABLE_YIELDS | TABLE_CUT_MIDDLE, .min_width = 6},
	{.name = "bytes", .header = "bytes", .flags = TABLE_SPARE, .align = TABLE_RIGHT},
	{.name = "site", .header = "begun by", .flags = TABLE_CUT_MIDDLE, .min_width = 12},
	{.name = "age", .header = "since", .min_width = 5},
	{.name = "match", .header = "other end", .min_width = 8},
};

/* ---- Cells ---- */

static bool is_message(const struct model_request *request)
{
	return request->kind == SEG_REQUEST_SEND || request->kind == SEG_REQUEST_RECV ||
	       request->kind == SEG_REQUEST_MATCHED;
}

static const char *kind_text(const struct view *view, const struct model_request *request)
{
	static const char *const kinds[] = {
		[SEG_REQUEST_SEND] = "send",       [SEG_REQUEST_RECV] = "receive",
		[SEG_REQUEST_MATCHED] = "receive", [SEG_REQUEST_COLLECTIVE] = "collective",
		[SEG_REQUEST_LOCK] = "lock",       [SEG_REQUEST_OTHER] = "other",
	};

	if (is_message(request) && request->tag < SEG_TAG_MANY)
		return "token";
	if (request->kind == SEG_REQUEST_COLLECTIVE && request->ordinal)
		return text_of(view, "number %" PRIu64, request->ordinal);
	if (request->kind == SEG_REQUEST_LOCK)
		return request->tag == 1 ? "exclusive lock" : "shared lock";
	if (request->flags & SEG_REQUEST_CANCELLED)
		return text_of(view, "%s, cancelled", kinds[request->kind]);
	return kinds[request->kind];
}

static int peer_rank(const struct view *view, const struct job_lane *lane,
		     const struct model_request *request)
{
	return request->comm == SEG_NO_COMM
		       ? -1
		       : job_comms_peer(view->comms, lane->model, request->comm, request->peer);
}

static void add_peer(struct table *table, const struct model_request *request, int rank)
{
	if (!is_message(request) && request->kind != SEG_REQUEST_LOCK)
		table_text(table, NULL);
	else if (request->peer == SEG_PEER_ANY)
		table_text(table, request->kind == SEG_REQUEST_LOCK ? "all" : "any");
	else if (rank >= 0)
		table_cell(table, "%d", rank);
	else
		table_text(table, "?");
}

/* What the other end of a message did. */
static const char *message_text(const struct view *view, const struct job_lane *lane,
				const struct model_request *request)
{
	const struct message_pairs *pairs = view->answer->pairs;
	int rank = lane->rank, peer = peer_rank(view, lane, request);
	uint32_t comm = job_comms_find(view->comms, lane->model, request->comm);
	bool is_send = request->kind == SEG_REQUEST_SEND;
	const struct message_pair *pair;

	if (request->kind == SEG_REQUEST_MATCHED)
		return "has sent";
	if (peer < 0 || comm == SEG_NO_COMM || request->tag == SEG_TAG_ANY)
		return "?";
	pair = is_send ? message_pairs_find(pairs, comm, rank, peer, request->tag)
		       : message_pairs_find(pairs, comm, peer, rank, request->tag);
	switch (message_pair_match(pair, is_send, request->ordinal)) {
	case MESSAGE_MATCH_YES:
		return is_send ? "receives" : "has sent";
	case MESSAGE_MATCH_NO:
		return is_send ? "no receive" : "not sent";
	case MESSAGE_MATCH_UNKNOWN:
		break;
	}
	return "?";
}

/* How many of the members have begun this collective. */
static const char *collective_text(const struct view *view, const struct job_lane *lane,
				   const struct model_request *request)
{
	uint32_t comm = job_comms_find(view->comms, lane->model, request->comm);
	const struct job_comm *of;
	size_t number = 0;

	if (comm == SEG_NO_COMM || !request->ordinal)
		return "?";
	of = &view->comms->comms[comm];
	for (size_t i = 0; i < of->num_views; i++) {
		struct job_comm_view known = job_comm_view(of, i);

		number += job_comm_seen(&known)->collectives >= request->ordinal;
	}
	return text_of(view, "%zu of %zu there", number, of->sizes[0] + of->sizes[1]);
}

static const char *match_text(const struct view *view, const struct job_lane *lane,
			      const struct model_request *request)
{
	if (request->comm != SEG_NO_COMM && is_message(request))
		return message_text(view, lane, request);
	if (request->comm != SEG_NO_COMM && request->kind == SEG_REQUEST_COLLECTIVE)
		return collective_text(view, lane, request);
	return "";
}

static bool is_unmet(const char *match)
{
	return !strcmp(match, "not sent") || !strcmp(match, "no receive");
}

static void add_row(struct table *table, const struct view *view, const struct job_lane *lane,
		    const struct model_request *request)
{
	const struct model *model = lane->model;
	const struct job_site *site = &view->job->model->sites[lane->site_map[request->site]];
	const char *match = match_text(view, lane, request);

	table_row(table);
	table_text(table, kind_text(view, request));
	add_peer(table, request, peer_rank(view, lane, request));
	table_text(table, is_message(request) ? label_tag(view->arena, request->tag) : "");
	table_text(table, request->comm == SEG_NO_COMM
				  ? ""
				  : label_comm_local(view, model, request->comm, LABEL_SHORT));
	if (request->bytes && request->bytes != SEG_NO_BYTES)
		table_cell(table, "%" PRIu64, request->bytes);
	else
		table_text(table, NULL);
	table_cell(table, "%s, %s", site->name, label_user_place(view, site->path, LABEL_SHORT));
	table_cell(table, "%s", label_time(model->now_ns - request->since_ns).text);
	table_text(table, match);
	table_mark(table, is_unmet(match) ? "" : NULL); /* the last cell says it */
}

/* ---- The answer ---- */

static int compare_ages(const void *a, const void *b)
{
	const struct model_request *one = *(const struct model_request *const *)a;
	const struct model_request *two = *(const struct model_request *const *)b;

	if (one->since_ns != two->since_ns)
		return one->since_ns < two->since_ns ? -1 : 1;
	return (one > two) - (one < two);
}

/* Requests that were begun, the oldest first. Locks are held, not waited for. */
static const struct model_request **find_pending(const struct view *view, const struct model *model,
						 size_t *num_ret, size_t *num_idle_ret)
{
	const struct model_request **pending =
		arena_array(view->arena, model->num_requests, sizeof(*pending));
	size_t number = 0;

	*num_idle_ret = 0;
	for (size_t i = 0; i < model->num_requests; i++) {
		const struct model_request *request = &model->requests[i];

		if (request->kind == SEG_REQUEST_FREE)
			continue;
		if ((request->flags & SEG_REQUEST_PERSISTENT) &&
		    !(request->flags & SEG_REQUEST_ACTIVE))
			(*num_idle_ret)++;
		else
			pending[number++] = request;
	}
	if (number)
		qsort(pending, number, sizeof(*pending), compare_ages);
	*num_ret = number;
	return pending;
}

/* Are all on one communicator? Then the head names it. */
static bool is_one_comm(const struct model_request *const *pending, size_t number)
{
	for (size_t i = 1; i < number; i++)
		if (pending[i]->comm != pending[0]->comm)
			return false;
	return number > 0;
}

static void print_head(const struct view *view, const struct job_lane *lane,
		       const struct model_request *const *pending, size_t number)
{
	const char *on = "";

	if (is_one_comm(pending, number) && pending[0]->comm != SEG_NO_COMM)
		on = text_of(view, ", %son %s", number > 1 ? "all " : "",
			     label_comm_local(view, lane->model, pending[0]->comm, LABEL_FULL));
	if (number)
		text_wrap(view, 0, "rank %d: %zu request%s begun and not complete%s", lane->rank,
			  number, number == 1 ? "" : "s", on);
	else
		text_wrap(view, 0, "rank %d has begun nothing that is not complete.", lane->rank);
}

void view_requests(const struct view *view)
{
	int rank = view->answer->rank;
	size_t num_lanes, number, num_idle, first = parts_lanes(view, rank, &num_lanes);
	const struct job_lane *lane = &view->job->model->lanes[first];
	const struct model_request **pending;
	struct table *table;

	if (!num_lanes) {
		parts_no_model(view, rank);
		return;
	}
	pending = find_pending(view, lane->model, &number, &num_idle);
	print_head(view, lane, pending, number);
	table = TABLE_OF(view, columns);
	if (is_one_comm(pending, number))
		table_hide(table, "comm");
	/* First come requests whose other end has not done its part. */
	for (int wanted = 1; wanted >= 0; wanted--)
		for (size_t i = 0; i < number && table_num_rows(table) < PARTS_MAX_ROWS; i++)
			if (is_unmet(match_text(view, lane, pending[i])) == wanted)
				add_row(table, view, lane, pending[i]);
	table_print(table);
	if (number > PARTS_MAX_ROWS)
		text_wrap(view, 2, "... and %zu more", number - PARTS_MAX_ROWS);
	if (num_idle)
		text_wrap(view, 2, "%zu persistent request%s not started", num_idle,
			  num_idle == 1 ? " is" : "s are");
	if (lane->model->program->dropped_requests)
		text_wrap(view, 2, "%" PRIu64 " more: the recorder had no room for them",
			  lane->model->program->dropped_requests);
}

/* ---- JSON ---- */

static void write_request(struct json *json, const struct view *view, const struct job_lane *lane,
			  const struct model_request *request)
{
	const struct model *model = lane->model;
	const struct job_site *site = &view->job->model->sites[lane->site_map[request->site]];
	bool has_peer = is_message(request) || request->kind == SEG_REQUEST_LOCK;
	int peer = peer_rank(view, lane, request);
	const char *match = match_text(view, lane, request);

	json_text(json, "kind", kind_text(view, request));
	if (has_peer && request->peer != SEG_PEER_ANY && peer >= 0)
		json_int(json, "peer", peer);
	else
		json_text(json, "peer", has_peer && request->peer == SEG_PEER_ANY ? "any" : NULL);
	json_text(json, "tag", is_message(request) ? label_tag(view->arena, request->tag) : NULL);
	json_text(json, "communicator",
		  request->comm == SEG_NO_COMM
			  ? NULL
			  : label_comm_local(view, model, request->comm, LABEL_FULL));
	if (request->bytes != SEG_NO_BYTES)
		json_count(json, "bytes", request->bytes);
	json_text(json, "function", site->name);
	json_text(json, "place", label_user_place(view, site->path, LABEL_FULL));
	json_seconds(json, "age_s", model->now_ns - request->since_ns);
	json_text(json, "other_end", *match ? match : NULL);
	json_bool(json, "unmet", is_unmet(match));
}

void view_requests_json(const struct view *view)
{
	int rank = view->answer->rank;
	size_t num_lanes, number = 0, num_idle = 0, first = parts_lanes(view, rank, &num_lanes);
	const struct job_lane *lane = &view->job->model->lanes[first];
	const struct model_request **pending =
		num_lanes ? find_pending(view, lane->model, &number, &num_idle) : NULL;
	struct json *json = view->json;

	json_int(json, "rank", rank);
	JSON_OBJECTS(json, "requests", i, number)
		write_request(json, view, lane, pending[i]);
	json_count(json, "idle", num_idle);
	json_count(json, "lost", num_lanes ? lane->model->program->dropped_requests : 0);
}
