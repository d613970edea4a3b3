/* SPDX-License-Identifier: BSD-3-Clause
 * What a rank did last. */
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "render/words/parts.h"

enum { DEFAULT_ROWS = 20 };

static const struct table_column columns[] = {
	{.name = "ago", .header = "began", .align = TABLE_RIGHT},
	{.name = "for", .header = "took", .align = TABLE_RIGHT},
	{.name = "state", .header = "", .flags = TABLE_CUT_MIDDLE, .min_width = 20},
};

static void add_row(struct table *table, const struct view *view, const struct job_lane *lane,
		    size_t e)
{
	const struct model_event *event = &lane->data->ring[e];
	bool is_last = e + 1 == lane->data->num_ring;
	uint64_t now = lane->model->now_ns, end = is_last ? now : event[1].ns;

	table_row(table);
	if (lane->data->is_borrowing) {
		table_text(table, "-");
		table_text(table, "-");
	} else {
		/* Another core's clock may be a little behind. */
		table_cell(table, "%s ago", label_time(now > event->ns ? now - event->ns : 0).text);
		table_cell(table, "%s", label_time(end > event->ns ? end - event->ns : 0).text);
	}
	table_text(table, label_state(view, job_lane_state(lane, event->state), LABEL_SHORT));
	if (is_last)
		table_mark(table, "<- now");
}

static void print_polls(const struct view *view, const struct job_lane *lane)
{
	const struct model_lane *data = lane->data;
	const struct job_site *site;

	if (!data->poll_site || !data->polls)
		return;
	site = &view->job->model->sites[lane->site_map[data->poll_site]];
	text_wrap(view, 2, "since then %" PRIu64 " polls without success, the last of them %s, %s",
		  data->polls, site->name, label_user_place(view, site->path, LABEL_FULL));
}

static void print_lane(const struct view *view, const struct job_lane *lane)
{
	const struct model_lane *data = lane->data;
	size_t max = view->answer->count > 0 ? (size_t)view->answer->count : DEFAULT_ROWS;
	size_t number = data->num_ring < max ? data->num_ring : max;
	struct table *table;

	text_wrap(view, 0, "rank %d%s: the last %zu of %" PRIu64 " transitions", lane->rank,
		  data->is_main ? "" : text_of(view, ", thread %d", data->tid), number,
		  data->events);
	table = TABLE_OF(view, columns);
	for (size_t e = data->num_ring - number; e < data->num_ring; e++)
		add_row(table, view, lane, e);
	table_print(table);
	if (data->is_borrowing)
		text_wrap(view, 2, "The times are not kept here; \"set evidence all\" keeps them.");
	print_polls(view, lane);
}

void view_history(const struct view *view)
{
	parts_print_lanes(view, print_lane);
}

static void write_event(struct json *json, const struct view *view, const struct job_lane *lane,
			size_t e)
{
	const struct model_event *event = &lane->data->ring[e];
	uint64_t now = lane->model->now_ns;
	uint64_t end = e + 1 == lane->data->num_ring ? now : event[1].ns;
	uint32_t state = job_lane_state(lane, event->state);

	if (!lane->data->is_borrowing) {
		json_seconds(json, "ago_s", now > event->ns ? now - event->ns : 0);
		json_seconds(json, "took_s", end > event->ns ? end - event->ns : 0);
	}
	json_bool(json, "in_mpi", !SEG_STATE_IS_EXIT(state));
	json_text(json, "function", view->job->model->sites[SEG_STATE_SITE(state)].name);
	json_text(json, "state", label_state(view, state, LABEL_FULL));
}

void view_history_json(const struct view *view)
{
	int rank = view->answer->rank, max = view->answer->count;
	size_t num_lanes, first = parts_lanes(view, rank, &num_lanes);
	struct json *json = view->json;

	json_int(json, "rank", rank);
	JSON_OBJECTS(json, "threads", i, num_lanes) {
		const struct job_lane *lane = &view->job->model->lanes[first + i];
		size_t known = lane->data->num_ring;
		size_t number = max > 0 && (size_t)max < known ? (size_t)max : known;

		json_int(json, "thread", lane->data->is_main ? 0 : lane->lane);
		json_count(json, "transitions", lane->data->events);
		json_count(json, "polls", lane->data->polls);
		JSON_OBJECTS(json, "events", e, number)
			write_event(json, view, lane, known - number + e);
	}
}
