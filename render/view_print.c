/* SPDX-License-Identifier: BSD-3-Clause
 * print: the values of an expression, equal ones together. */

#include "analysis/values/value_groups.h"
#include "model/job/callpath.h"
#include "render/draw/table.h"
#include "render/printed.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"

enum {
	MAX_VALUES = 8, /* that print lists one by one */
	MAX_ROWS = 3,   /* of a variable of locals */
};

static const struct table_column columns[] = {
	{.name = "value", .header = "value", .min_width = 24},
	{.name = "ranks", .header = "ranks", .flags = TABLE_YIELDS, .min_width = 12},
	{.name = "note", .header = "", .min_width = 8},
};

static void add_row(struct table *table, const struct value_group *group, const char *note)
{
	table_row(table);
	table_text(table, group->text);
	table_ranks(table, group->ranks);
	table_text(table, note);
}

/* The smallest, the median and the largest of many, and those that are no numbers. */
static void add_extremes(const struct view *view, struct table *table,
			 const struct value_groups *groups)
{
	size_t num = groups->num_values - groups->num_nan;

	if (num) {
		add_row(table, groups->by_number[0], "smallest");
		add_row(table, groups->median, text_of(view, "median of %zu different", num));
		add_row(table, groups->by_number[num - 1], "largest");
	}
	for (size_t i = num; i < groups->num_values; i++)
		add_row(table, groups->by_number[i], NULL);
}

/* Values that are longer than a row of the table: the ranks, and the value below them. */
static void print_long(const struct view *view, const struct value_groups *groups, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		text_wrap(view, 2, "%s",
			  label_ranks(view->arena, groups->groups[i].ranks, view->width - 2));
		text_wrap(view, 4, "%s", groups->groups[i].text);
	}
}

static bool is_long(const struct view *view, const struct value_groups *groups, size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (text_columns(groups->groups[i].text) > (size_t)view->width / 2)
			return true;
	return false;
}

static void print_head(const struct view *view, const struct printed *printed)
{
	struct text_list head = {view->arena, printed->expression};

	if (printed->type)
		text_list_add(&head, ", ", printed->type);
	if (printed->node != CALLPATH_NONE)
		text_list_add(&head, ", ", label_place(view, printed->node, LABEL_FULL));
	text_wrap(view, 0, "%s", head.text);
}

void view_print(const struct view *view)
{
	const struct printed *printed = view->answer->own;
	const struct value_groups *groups = printed->groups;
	struct table *table = TABLE_OF(view, columns);
	bool has_extremes = groups->are_numbers && groups->num_values > MAX_VALUES;
	size_t num = groups->num_values < MAX_VALUES ? groups->num_values : MAX_VALUES;

	print_head(view, printed);
	if (has_extremes)
		add_extremes(view, table, groups);
	else if (is_long(view, groups, num))
		print_long(view, groups, num);
	else
		for (size_t i = 0; i < num; i++)
			add_row(table, &groups->groups[i], NULL);
	for (size_t i = groups->num_values; i < groups->num; i++)
		add_row(table, &groups->groups[i], "no value");
	table_print(table);
	if (!has_extremes && num < groups->num_values)
		text_wrap(view, 2, "... and %zu other values; \"print > FILE.json\" has all",
			  groups->num_values - num);
}

/* The first rows are those of the most ranks. */
static void add_variable(const struct view *view, struct table *table,
			 const struct printed *printed)
{
	const struct value_groups *groups = printed->groups;
	bool is_many = groups->num > MAX_ROWS;
	const struct value_group *shown[MAX_ROWS];
	size_t num = is_many ? MAX_ROWS : groups->num, last = groups->num_values - groups->num_nan;
	bool is_extreme = is_many && groups->are_numbers && last > MAX_ROWS;

	for (size_t i = 0; i < num; i++)
		shown[i] = &groups->groups[i];
	if (is_extreme) {
		shown[0] = groups->by_number[0];
		shown[1] = groups->median;
		shown[2] = groups->by_number[last - 1];
	}
	for (size_t i = 0; i < num; i++) {
		static const char *const extremes[] = {"smallest", "median", "largest"};

		table_row(table);
		table_text(table, i ? NULL : printed->expression);
		table_text(table, shown[i]->text);
		table_ranks(table, shown[i]->ranks);
		table_text(table, !shown[i]->has_value ? "no value"
				  : is_extreme         ? extremes[i]
				  : is_many && i + 1 == num
					  ? text_of(view, "and %zu more", groups->num - num)
					  : NULL);
	}
}

void view_locals(const struct view *view)
{
	static const struct table_column locals_columns[] = {
		{.name = "variable", .header = "variable", .min_width = 8},
		{.name = "value", .header = "value", .min_width = 20},
		{.name = "ranks", .header = "ranks", .flags = TABLE_YIELDS, .min_width = 12},
		{.name = "note", .header = "", .min_width = 8},
	};
	const struct printed_locals *locals = view->answer->own;

	for (size_t i = 0; i < locals->num; i++) {
		const struct printed_function *function = &locals->functions[i];
		struct table *table = TABLE_OF(view, locals_columns);

		if (function->name)
			text_wrap(view, 0, "%s in %s():",
				  label_who(view->arena, function->ranks, view->width / 2),
				  function->name);
		else
			text_wrap(view, 0, "%s: %s",
				  label_who(view->arena, function->ranks, view->width / 2),
				  function->why);
		if (function->name && !function->num)
			text_wrap(view, 2,
				  locals->are_arguments
					  ? "no arguments"
					  : "no variables but its arguments: info args");
		for (size_t k = 0; k < function->num; k++)
			add_variable(view, table, &function->list[k]);
		table_print(table);
	}
}

static void write_values(struct json *json, const struct value_groups *groups)
{
	json_array(json, "values");
	for (size_t i = 0; i < groups->num_values; i++) {
		const struct value_group *group = &groups->groups[i];

		json_object(json, NULL);
		json_text(json, "value", group->text);
		if (group->is_number)
			json_real(json, "number", group->number);
		else
			json_null(json, "number");
		json_who(json, group->ranks);
		json_end_object(json);
	}
	json_end_array(json);
	json_array(json, "missing");
	for (size_t i = groups->num_values; i < groups->num; i++) {
		json_object(json, NULL);
		json_text(json, "reason", groups->groups[i].text);
		json_who(json, groups->groups[i].ranks);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_printed(const struct view *view, const struct printed *printed)
{
	json_text(view->json, "expression", printed->expression);
	json_text(view->json, "type", printed->type);
	json_text(view->json, "where",
		  printed->node == CALLPATH_NONE ? NULL
						 : label_place(view, printed->node, LABEL_FULL));
	write_values(view->json, printed->groups);
}

void view_print_json(const struct view *view)
{
	write_printed(view, view->answer->own);
}

void view_locals_json(const struct view *view)
{
	const struct printed_locals *locals = view->answer->own;
	struct json *json = view->json;

	json_array(json, "functions");
	for (size_t i = 0; i < locals->num; i++) {
		const struct printed_function *function = &locals->functions[i];

		json_object(json, NULL);
		json_text(json, "function", function->name);
		json_text(json, "reason", function->why);
		json_who(json, function->ranks);
		json_array(json, "variables");
		for (size_t k = 0; k < function->num; k++) {
			json_object(json, NULL);
			write_printed(view, &function->list[k]);
			json_end_object(json);
		}
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}
