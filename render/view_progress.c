/* SPDX-License-Identifier: BSD-3-Clause
 * How far each group is in the outermost loop, as bars. */
#include <math.h>
#include <sys/param.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "render/words/parts.h"

/* A bar shows at least this many iterations, so that one iteration does not look large. */
enum { BAR_WIDTH = 20, LEAST_SPAN = 10 };

static const struct table_column columns[] = {
	{.name = "ranks", .header = "ranks", .flags = TABLE_YIELDS, .min_width = 15},
	{.name = "bar", .header = "progress", .min_width = BAR_WIDTH},
	{.name = "iteration", .header = "iteration", .align = TABLE_RIGHT},
	{.name = "doing", .header = "doing", .flags = TABLE_CUT_MIDDLE, .min_width = 10},
	{.name = "rate", .header = "calls/s", .align = TABLE_RIGHT},
	{.name = "since", .header = "since", .min_width = 5},
};

/* What the bars show: the iterations from `first` to `last` of a loop. */
struct scale {
	uint32_t loop; /* LOOP_NONE: for groups in no loop */
	uint64_t first, last;
};

static struct scale make_scale(const struct view *view, uint32_t loop)
{
	struct scale scale = {.loop = loop, .first = UINT64_MAX};

	for (size_t g = 0; g < view->groups->num_groups; g++) {
		const struct iteration *iteration = parts_outermost(view->groups->groups[g].place);

		if (!iteration || iteration->loop != loop)
			continue;
		scale.first = MIN(scale.first, iteration->count);
		scale.last = MAX(scale.last, iteration->count);
	}
	if (scale.last - scale.first < LEAST_SPAN)
		scale.first = scale.last > LEAST_SPAN ? scale.last - LEAST_SPAN : 0;
	return scale;
}

static const char *bar_text(const struct view *view, const struct scale *scale, uint64_t count)
{
	double share = scale->last > scale->first ? (double)(count - scale->first) /
							    (double)(scale->last - scale->first)
						  : 1;
	/* Only the most advanced groups have a full bar. */
	int filled = count == scale->last ? BAR_WIDTH : (int)(share * (BAR_WIDTH - 1));
	const char *full = view->use_unicode ? "\u2588" : "#";
	const char *empty = view->use_unicode ? "\u2591" : ".";
	char *text = arena_alloc(view->arena, BAR_WIDTH * 4 + 1), *end = text;

	for (int i = 0; i < BAR_WIDTH; i++)
		end = stpcpy(end, i < filled ? full : empty);
	return text;
}

/* Mean MPI calls per second of a rank in the group, between the last two looks. Each call is two
 * moves. -1: there was only one look. */
static double find_rate(const struct view *view, const struct eqgroup *group)
{
	double moves = 0, lanes = 0;

	for (size_t i = 0; i < group->num_actors; i++) {
		const struct job_lane *lane = &view->job->model->lanes[group->actors[i]];

		lanes += lane->has_second_look;
		moves += (double)lane->moves;
	}
	if (lanes == 0 || view->job->look_seconds <= 0)
		return -1;
	return moves / 2 / lanes / view->job->look_seconds;
}

static void add_row(struct table *table, const struct view *view, const struct scale *scale,
		    uint32_t g, const struct rankset *ranks)
{
	const struct eqgroup *group = &view->groups->groups[g];
	const struct iteration *iteration = parts_outermost(group->place);
	double rate = find_rate(view, group);

	table_row(table);
	table_ranks(table, ranks);
	table_text(table, iteration ? bar_text(view, scale, iteration->count) : NULL);
	table_text(table, parts_iterations(view, group));
	table_text(table, label_doing(view, group));
	if (rate < 0)
		table_text(table, NULL);
	else
		table_cell(table, "%.*f", rate > 0 && rate < 10 ? 1 : 0, rate);
	table_text(table, parts_since(view, group));
	table_mark(table, parts_mark(view, g, ranks));
}

static void print_title(const struct view *view, const struct scale *scale)
{
	if (scale->loop == LOOP_NONE) {
		text_wrap(view, 0, "in no loop:");
		return;
	}
	text_wrap(view, 0, "%s: the bars go from iteration %" PRIu64 " to %" PRIu64,
		  label_loop(view, scale->loop, LABEL_SHORT), scale->first, scale->last);
}

static bool is_any_moving(const struct view *view)
{
	const struct job_model *jm = view->job->model;

	for (size_t i = 0; i < jm->num_lanes; i++)
		if (jm->lanes[i].moves)
			return true;
	return false;
}

/* All groups whose outermost loop is `loop`. */
static void print_section(const struct view *view, uint32_t loop)
{
	struct scale scale = make_scale(view, loop);
	struct table *table = TABLE_OF(view, columns);
	size_t num_rest = 0;

	for (uint32_t g = 0; g < view->groups->num_groups; g++) {
		const struct iteration *iteration = parts_outermost(view->groups->groups[g].place);
		struct rankset *ranks = parts_in_focus(view, view->groups->groups[g].ranks);

		if ((iteration ? iteration->loop : LOOP_NONE) != loop || rankset_is_empty(ranks))
			continue;
		if (table_num_rows(table) >=
		    (parts_is_culprit(view, g) ? 2 * PARTS_MAX_ROWS : PARTS_MAX_ROWS))
			num_rest++;
		else
			add_row(table, view, &scale, g, ranks);
	}
	if (!is_any_moving(view))
		table_hide(table, "rate");
	if (loop == LOOP_NONE) {
		table_hide(table, "bar");
		table_hide(table, "iteration");
	}
	if (table_num_rows(table))
		print_title(view, &scale);
	table_print(table);
	if (num_rest)
		text_wrap(view, 2,
			  "... and %zu smaller groups; \"focus RANKS\" shows the groups of some "
			  "ranks",
			  num_rest);
}

void view_progress(const struct view *view)
{
	bool *has_section;

	if (!parts_have_models(view))
		return;
	has_section = arena_array(view->arena, view->progress->num_loops, sizeof(*has_section));
	for (size_t g = 0; g < view->groups->num_groups; g++) {
		const struct iteration *iteration = parts_outermost(view->groups->groups[g].place);

		if (iteration)
			has_section[iteration->loop] = true;
	}
	for (uint32_t loop = 0; loop < view->progress->num_loops; loop++)
		if (has_section[loop])
			print_section(view, loop);
	print_section(view, LOOP_NONE);
}

static void write_group(struct json *json, const struct view *view, uint32_t g,
			const struct rankset *ranks)
{
	const struct iteration *iteration = parts_outermost(view->groups->groups[g].place);
	double rate = find_rate(view, &view->groups->groups[g]);

	json_object(json, NULL);
	parts_json_group(json, view, g, ranks);
	json_real(json, "calls_per_s", rate < 0 ? NAN : rate);
	if (iteration) {
		struct scale scale = make_scale(view, iteration->loop);

		json_count(json, "first_iteration", scale.first);
		json_count(json, "foremost_iteration", scale.last);
	}
	json_end_object(json);
}

void view_progress_json(const struct view *view)
{
	struct json *json = view->json;

	json_array(json, "groups");
	for (uint32_t g = 0; view->groups && g < view->groups->num_groups; g++) {
		struct rankset *ranks = parts_in_focus(view, view->groups->groups[g].ranks);

		if (!rankset_is_empty(ranks))
			write_group(json, view, g, ranks);
	}
	json_end_array(json);
}
