/* SPDX-License-Identifier: BSD-3-Clause
 * The Markov model of a rank: which MPI call follows which, how often. */
#include "analysis/progress/eqgroup.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "render/draw/dot.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "render/words/parts.h"

static const struct table_column columns[] = {
	{.name = "state",
	 .header = "state, and what follows it",
	 .flags = TABLE_CUT_MIDDLE,
	 .min_width = 20},
	{.name = "count", .header = "times", .align = TABLE_RIGHT},
	{.name = "share", .header = "share", .align = TABLE_RIGHT},
};

/* How often each state was left, by the rank's own numbers of states. */
static uint64_t *count_leaving(const struct view *view, const struct job_lane *lane)
{
	uint64_t *leaving = arena_array(view->arena, 2 * lane->model->num_sites, sizeof(*leaving));

	for (size_t t = 0; t < lane->data->num_transitions; t++)
		leaving[lane->data->transitions[t].from] += lane->data->transitions[t].count;
	return leaving;
}

/* In whole percent. Only nothing is 0, only everything is 100. */
static const char *share_text(const struct view *view, uint64_t count, uint64_t all)
{
	double percent = all ? 100.0 * (double)count / (double)all : 0;

	if (count && percent < 1)
		return "<1 %";
	if (count < all && percent > 99)
		return ">99 %";
	return text_of(view, "%.0f %%", percent);
}

static int compare_from(const void *a, const void *b, void *arg)
{
	const struct model_lane *lane = arg;
	size_t one = *(const size_t *)a, two = *(const size_t *)b;
	uint32_t from_one = lane->transitions[one].from, from_two = lane->transitions[two].from;

	if (from_one != from_two)
		return from_one < from_two ? -1 : 1;
	return (one > two) - (one < two);
}

/* The transitions of one state together, states in the order first seen. */
static size_t *sort_transitions(const struct view *view, const struct job_lane *lane)
{
	size_t *order = arena_array(view->arena, lane->data->num_transitions, sizeof(*order));

	for (size_t t = 0; t < lane->data->num_transitions; t++)
		order[t] = t;
	qsort_r(order, lane->data->num_transitions, sizeof(*order), compare_from,
		(void *)lane->data);
	return order;
}

/* The outermost loop that a thread is in, or was in last; LOOP_NONE: none, or all is wanted. */
static uint32_t find_loop(const struct view *view, const struct job_lane *lane)
{
	size_t l = (size_t)(lane - view->job->model->lanes);
	const struct iteration *outermost;

	if (view->answer->is_full || !view->groups)
		return LOOP_NONE;
	outermost = parts_outermost(view->groups->groups[view->groups->group_of[l]].place);
	return outermost ? outermost->loop : LOOP_NONE;
}

/* Is the state in this loop, or the present one? */
static bool is_shown(const struct view *view, const struct job_lane *lane, uint32_t loop,
		     uint32_t state)
{
	return loop == LOOP_NONE || state == lane->data->state ||
	       label_is_in_loop(view->progress, loop, job_lane_state(lane, state));
}

static void add_row(struct table *table, const struct view *view, const struct job_lane *lane,
		    uint32_t state, bool is_next, uint64_t count, const char *share)
{
	table_row(table);
	table_cell(table, "%s%s", is_next ? "  -> " : "",
		   label_state(view, job_lane_state(lane, state), LABEL_SHORT));
	table_cell(table, "%" PRIu64, count);
	table_text(table, share);
}

static void print_lane(const struct view *view, const struct job_lane *lane)
{
	const struct model_lane *data = lane->data;
	struct table *table = TABLE_OF(view, columns);
	uint64_t *leaving = count_leaving(view, lane);
	size_t *order = sort_transitions(view, lane), num_left_out = 0;
	uint32_t loop = find_loop(view, lane);
	bool has_present = false;

	text_wrap(view, 0, "rank %d%s: %" PRIu64 " transitions, %zu different ones%s", lane->rank,
		  data->is_main ? "" : ", another thread", data->events, data->num_transitions,
		  data->is_consistent ? "" : " (it moved while this was read)");
	for (size_t i = 0; i < data->num_transitions; i++) {
		const struct model_transition *transition = &data->transitions[order[i]];
		uint64_t all = leaving[transition->from];
		bool is_first = i == 0 || data->transitions[order[i - 1]].from != transition->from;

		if (!is_shown(view, lane, loop, transition->from)) {
			num_left_out += is_first;
			continue;
		}
		if (is_first)
			add_row(table, view, lane, transition->from, false, all, "");
		if (is_first && transition->from == data->state) {
			table_mark(table, "<- now");
			has_present = true;
		}
		add_row(table, view, lane, transition->to, true, transition->count,
			share_text(view, transition->count, all));
	}
	/* The state may never have been left. */
	if (!has_present) {
		add_row(table, view, lane, data->state, false, 0, "");
		table_mark(table, "<- now");
	}
	table_print(table);
	if (num_left_out)
		text_wrap(view, 2,
			  "left out: %zu %s outside the loops of the rank; \"model --all %d\" "
			  "shows all",
			  num_left_out, num_left_out == 1 ? "state" : "states", lane->rank);
}

void view_model(const struct view *view)
{
	parts_print_lanes(view, print_lane);
}

/* ---- As DOT ---- */

static void add_lane(struct dot *dot, const struct view *view, const struct job_lane *lane)
{
	const struct model_lane *data = lane->data;
	size_t num_states = 2 * lane->model->num_sites;
	uint64_t *leaving = count_leaving(view, lane);
	uint64_t *weight = arena_array(view->arena, num_states, sizeof(*weight));
	uint32_t *node = arena_array(view->arena, num_states, sizeof(*node));
	bool *is_used = arena_array(view->arena, num_states, sizeof(*is_used));

	for (size_t t = 0; t < data->num_transitions; t++) {
		weight[data->transitions[t].to] += data->transitions[t].count;
		is_used[data->transitions[t].from] = is_used[data->transitions[t].to] = true;
	}
	is_used[data->state] = true;
	for (uint32_t s = 0; s < num_states; s++) {
		if (!is_used[s])
			continue;
		/* The present state is kept however rare it is. */
		node[s] = dot_node(dot, label_state(view, job_lane_state(lane, s), LABEL_SHORT),
				   s == data->state ? UINT64_MAX : weight[s],
				   s == data->state       ? DOT_STRONG
				   : SEG_STATE_IS_EXIT(s) ? DOT_ROUNDED
							  : DOT_PLAIN);
	}
	for (size_t t = 0; t < data->num_transitions; t++) {
		const struct model_transition *transition = &data->transitions[t];
		const char *label =
			text_of(view, "%" PRIu64 " (%s)", transition->count,
				share_text(view, transition->count, leaving[transition->from]));

		dot_edge(dot, node[transition->from], node[transition->to], label);
	}
}

void view_model_dot(const struct view *view)
{
	int rank = view->answer->rank;
	size_t number, first = parts_lanes(view, rank, &number);
	struct dot *dot;
	const char *title;

	if (!number)
		return;
	title = arena_printf(view->arena,
			     "rank %d: transitions, how often, and their share of all that leave "
			     "the state",
			     rank);
	dot = dot_create(view->arena, title, "states");
	for (size_t i = first; i < first + number; i++)
		add_lane(dot, view, &view->job->model->lanes[i]);
	dot_write(dot, view->out);
}

/* ---- JSON ---- */

static void write_lane(struct json *json, const struct view *view, const struct job_lane *lane)
{
	const struct model_lane *data = lane->data;
	size_t *order = sort_transitions(view, lane);

	json_int(json, "thread", data->is_main ? 0 : lane->lane);
	json_count(json, "transitions", data->events);
	json_bool(json, "consistent", data->is_consistent);
	json_text(json, "state", label_state(view, job_lane_state(lane, data->state), LABEL_FULL));
	JSON_OBJECTS(json, "edges", i, data->num_transitions) {
		const struct model_transition *transition = &data->transitions[order[i]];
		uint32_t from = job_lane_state(lane, transition->from);
		uint32_t to = job_lane_state(lane, transition->to);

		json_text(json, "from", label_state(view, from, LABEL_FULL));
		json_text(json, "to", label_state(view, to, LABEL_FULL));
		json_count(json, "count", transition->count);
	}
}

void view_model_json(const struct view *view)
{
	int rank = view->answer->rank;
	size_t num_lanes, first = parts_lanes(view, rank, &num_lanes);
	struct json *json = view->json;

	json_int(json, "rank", rank);
	JSON_OBJECTS(json, "threads", i, num_lanes)
		write_lane(json, view, &view->job->model->lanes[first + i]);
}
