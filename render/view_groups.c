/* SPDX-License-Identifier: BSD-3-Clause
 * The equivalence groups as a table. */
#include "analysis/progress/eqgroup.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "render/words/parts.h"

/* A reader can count this many rows at a glance. */
enum { MAX_UNNUMBERED = 4 };

static const struct table_column columns[] = {
	{.name = "group", .header = "group", .align = TABLE_RIGHT},
	{.name = "ranks", .header = "ranks", .flags = TABLE_YIELDS, .min_width = 15},
	{.name = "thread", .header = "thread", .min_width = 6},
	{.name = "where", .header = "where", .flags = TABLE_CUT_MIDDLE, .min_width = 16},
	{.name = "iteration", .header = "iteration", .min_width = 6},
	{.name = "since", .header = "since", .min_width = 5},
};

static bool is_main(const struct view *view, const struct eqgroup *group)
{
	return view->job->model->lanes[group->actors[0]].data->is_main;
}

/* What the legend has to explain. */
struct seen {
	bool threads; /* not only main threads */
	bool iterations;
	bool nested; /* iterations of more than one loop */
	bool frontier;
	bool approximate;
	uint32_t loop; /* outermost loop of all that are in one; LOOP_NONE: several */
	bool has_loop;
};

static void look_at(const struct view *view, const struct eqgroup *group, struct seen *seen)
{
	const struct place *place = group->place;
	const struct iteration *iterations = place->iterations;
	size_t number = parts_num_iterations(view, group);

	if (!number) {
		iterations = place->frontier;
		number = place->num_frontier;
		seen->frontier |= number > 0;
	}
	seen->threads |= !is_main(view, group);
	seen->nested |= number > 1;
	for (size_t i = 0; i < number; i++)
		seen->approximate |= iterations[i].is_approximate;
	if (!number)
		return;
	if (seen->has_loop && seen->loop != iterations[0].loop)
		seen->loop = LOOP_NONE;
	else
		seen->loop = iterations[0].loop;
	seen->has_loop = true;
}

static void add_row(struct table *table, const struct view *view, uint32_t g,
		    const struct rankset *ranks)
{
	const struct eqgroup *group = &view->groups->groups[g];

	table_row(table);
	table_cell(table, "%" PRIu32, g + 1);
	table_ranks(table, ranks);
	if (is_main(view, group))
		table_text(table, "main");
	else
		table_cell(table, "%d", view->job->model->lanes[group->actors[0]].lane);
	table_text(table, label_where(view, group, LABEL_SHORT));
	table_text(table, parts_iterations(view, group));
	table_text(table, parts_since(view, group));
	table_mark(table, parts_mark(view, g, ranks));
}

static void print_legend(const struct view *view, const struct seen *seen)
{
	if (seen->has_loop && seen->loop != LOOP_NONE)
		text_wrap(view, 2, "iteration: of %s%s", label_loop(view, seen->loop, LABEL_SHORT),
			  seen->nested ? ", then of the loops inside it; see \"loops\"" : "");
	else if (seen->has_loop)
		text_wrap(view, 2, "iteration: of the outermost loop there%s; see \"loops\"",
			  seen->nested ? ", then of the loops inside it" : "");
	if (seen->frontier)
		text_wrap(
			view, 2,
			"?: the last iteration before this place; no rank has gone back from here "
			"into the loop");
	if (seen->approximate)
		text_wrap(view, 2,
			  "about: the total of the whole run, not since the enclosing loop began "
			  "its iteration");
}

void view_groups(const struct view *view)
{
	struct table *table;
	struct seen seen = {.loop = LOOP_NONE};
	struct rankset *rest;
	size_t num_rest = 0;

	if (view->answer && view->answer->order) {
		view_order(view);
		return;
	}
	if (!parts_have_models(view))
		return;
	table = TABLE_OF(view, columns);
	rest = parts_set(view);
	for (uint32_t g = 0; g < view->groups->num_groups; g++) {
		const struct eqgroup *group = &view->groups->groups[g];
		struct rankset *ranks = parts_in_focus(view, group->ranks);

		if (rankset_is_empty(ranks))
			continue;
		/* Groups of culprits are usually small: keep room for them. */
		if (table_num_rows(table) >=
		    (parts_is_culprit(view, g) ? 2 * PARTS_MAX_ROWS : PARTS_MAX_ROWS)) {
			rankset_add_set(rest, ranks);
			num_rest++;
		} else {
			look_at(view, group, &seen);
			add_row(table, view, g, ranks);
		}
	}
	/* Other commands name a group by the number of its row. The column is shown if rows are
	 * left out, or are too many to count. */
	if (!view->focus && view->groups->num_groups <= MAX_UNNUMBERED)
		table_hide(table, "group");
	if (!seen.threads)
		table_hide(table, "thread");
	if (!seen.has_loop)
		table_hide(table, "iteration");
	table_print(table);
	if (num_rest)
		text_wrap(view, 2,
			  "... and %zu smaller groups with %d ranks; \"focus RANKS\" shows the "
			  "groups of some ranks",
			  num_rest, rankset_count(rest));
	print_legend(view, &seen);
}

void view_groups_json(const struct view *view)
{
	struct json *json = view->json;

	if (view->answer->order) {
		view_order_json(view);
		return;
	}
	json_array(json, "groups");
	for (uint32_t g = 0; view->groups && g < view->groups->num_groups; g++) {
		struct rankset *ranks = parts_in_focus(view, view->groups->groups[g].ranks);

		if (rankset_is_empty(ranks))
			continue;
		json_object(json, NULL);
		parts_json_group(json, view, g, ranks);
		json_end_object(json);
	}
	json_end_array(json);
}
