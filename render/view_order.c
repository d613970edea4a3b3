/* SPDX-License-Identifier: BSD-3-Clause
 * The temporal order of stacks: groups of ranks, what tells them apart, and what does not. */
#include "analysis/stacks/temporal.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"

enum { MAX_LOOPS = 16, MAX_REASONS = 6, RANKS_WIDTH = 30 };

static const struct table_column columns[] = {
	{.name = "group", .header = "group", .align = TABLE_RIGHT},
	{.name = "after", .header = "after", .min_width = 5},
	{.name = "ranks", .header = "ranks", .flags = TABLE_YIELDS, .min_width = 12},
	{.name = "where", .header = "where", .flags = TABLE_CUT_MIDDLE, .min_width = 16},
	{.name = "variables", .header = "variables", .min_width = 6},
};

/* ---- Words ---- */

/* "step=3, i=7": of all loops around all frames, outermost first. */
static const char *variables_label(const struct view *view, size_t group)
{
	const struct temporal_result *result = view->answer->order;
	const struct callpaths *callpaths = view->job->callpaths;
	uint32_t path = result->groups[group].path;
	struct text_list list = {view->arena, NULL};

	for (uint32_t depth = 0;
	     path != CALLPATH_NONE && depth <= callpaths_get(callpaths, path)->depth; depth++) {
		const struct temporal_loop *loops[MAX_LOOPS];
		int64_t values[MAX_LOOPS];
		bool has_value[MAX_LOOPS];
		size_t num =
			temporal_loops_of(result, group, callpaths_at_depth(callpaths, path, depth),
					  loops, values, has_value, MAX_LOOPS);

		for (size_t i = 0; i < num; i++)
			if (has_value[i])
				text_list_add(&list, ", ",
					      text_of(view, "%s=%" PRId64,
						      loops[i]->variable.variable->name,
						      values[i]));
	}
	return list.text ? list.text : "";
}

/* ---- The table ---- */

/* A group directly before this one; SIZE_MAX: there is none. */
static size_t group_before(const struct temporal_result *result, size_t group)
{
	uint32_t level = result->groups[group].level;

	for (size_t i = group; level && i-- > 0;)
		if (result->groups[i].level == level - 1 &&
		    temporal_order_of(result, i, group, NULL) == TEMPORAL_BEFORE)
			return i;
	return SIZE_MAX;
}

static void print_table(const struct view *view, const struct temporal_result *result)
{
	struct table *table = TABLE_OF(view, columns);

	for (size_t i = 0; i < result->num_groups; i++) {
		size_t before = group_before(result, i);

		table_row(table);
		table_cell(table, "%zu", i + 1);
		if (before == SIZE_MAX)
			table_text(table, NULL);
		else
			table_cell(table, "%zu", before + 1);
		table_ranks(table, result->groups[i].ranks);
		table_text(table, order_text_where(view, &result->groups[i]));
		table_text(table, variables_label(view, i));
	}
	table_print(table);
}

/* ---- Reasons ---- */

static void print_order(const struct view *view, const struct temporal_result *result,
			size_t before, size_t after)
{
	struct temporal_reason reason;

	temporal_order_of(result, before, after, &reason);
	if (reason.cause == TEMPORAL_BY_VARIABLE) {
		text_wrap(view, 2, "%zu before %zu: %s is %" PRId64 " and %" PRId64 " in %s",
			  before + 1, after + 1, reason.loop->variable.variable->name,
			  reason.value_a, reason.value_b, order_text_loop(view, reason.loop));
		return;
	}
	text_wrap(view, 2, "%zu before %zu: %s leads to %s", before + 1, after + 1,
		  label_place(view, reason.frame_a, LABEL_SHORT),
		  label_place(view, reason.frame_b, LABEL_SHORT));
}

/* The reasons why pairs of groups are not ordered, each once for the first pair that has it. */
static void print_unordered(const struct view *view, const struct temporal_result *result)
{
	struct temporal_reason seen[MAX_REASONS], reason;
	size_t num = 0;

	for (size_t i = 0; i < result->num_groups && num < MAX_REASONS; i++) {
		for (size_t j = i + 1; j < result->num_groups && num < MAX_REASONS; j++) {
			size_t k = 0;

			if (temporal_order_of(result, i, j, &reason) != TEMPORAL_UNORDERED)
				continue;
			while (k < num && (seen[k].cause != reason.cause ||
					   (reason.loop ? seen[k].loop != reason.loop
							: seen[k].frame_a != reason.frame_a)))
				k++;
			if (k < num)
				continue;
			seen[num++] = reason;
			text_wrap(view, 2, "%zu and %zu are not ordered: %s", i + 1, j + 1,
				  order_text_cause(view, &reason));
		}
	}
}

void view_order(const struct view *view)
{
	const struct temporal_result *result = view->answer->order;
	const char *who;
	size_t printed = 0;

	if (!result->num_groups) {
		fprintf(view->out, "There is no stack of these ranks.\n");
		return;
	}
	who = label_who(view->arena, result->groups[0].ranks, RANKS_WIDTH);
	if (result->num_groups == 1)
		fprintf(view->out, "All seem to be at the same place: %s.\n", who);
	else if (result->groups[1].level)
		fprintf(view->out, "First in temporal order: %s.\n", who);
	else
		fprintf(view->out, "No group is before all others.\n");
	print_table(view, result);
	for (size_t i = 0; i < result->num_groups && printed < MAX_REASONS; i++) {
		size_t before = group_before(result, i);

		if (before != SIZE_MAX) {
			print_order(view, result, before, i);
			printed++;
		}
	}
	print_unordered(view, result);
}

void view_order_json(const struct view *view)
{
	const struct temporal_result *result = view->answer->order;
	struct json *json = view->json;

	JSON_OBJECTS(json, "groups", i, result->num_groups) {
		const struct temporal_group *group = &result->groups[i];
		json_count(json, "group", i + 1);
		json_who(json, group->ranks);
		json_count(json, "level", group->level);
		json_number(json, "after", group_before(result, i), SIZE_MAX);
		json_text(json, "where", order_text_where(view, group));
		json_text(json, "variables", variables_label(view, i));
	}
	json_lines(json, "text", view, view_order);
}
