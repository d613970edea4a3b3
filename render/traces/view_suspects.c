/* SPDX-License-Identifier: BSD-3-Clause
 * suspects: which ranks behave differently in a bad run. */
#include <math.h>

#include "analysis/traces/trace_suspects.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/traces/trace_text.h"
#include "render/traces/view_traces.h"
#include "render/view.h"

enum { MOST_SUSPECTS = 10, MOST_FIRST = 5 };

static const struct table_column ranking_columns[] = {
	{.name = "rank", .header = "rank", .align = TABLE_RIGHT},
	{.name = "score", .header = "suspicion", .align = TABLE_RIGHT},
	{.name = "first", .header = "first in", .align = TABLE_RIGHT},
	{.name = "own", .header = "changed itself", .align = TABLE_RIGHT},
	{.name = "as", .header = "compared with", .min_width = 8},
};

static const struct table_column aspect_columns[] = {
	{.name = "kind", .header = "attributes"},
	{.name = "frequency", .header = "frequency"},
	{.name = "bscore", .header = "B-score", .align = TABLE_RIGHT},
	{.name = "first", .header = "most suspicious", .min_width = 15},
};

static bool is_here(const char *name)
{
	return strcmp(name, ".") == 0;
}

static const char *run_text(const char *name)
{
	return is_here(name) ? "this job" : name;
}

/* The trace of a pair in the bad run; the one in the good run. */
static const char *bad_text(const struct view *view, uint32_t pair)
{
	const struct trace_answer *a = view->answer->compared;

	return trace_text_thread(view->arena, &a->runs->threads[a->suspects->pairs[pair].bad]);
}

static const char *good_text(const struct view *view, uint32_t pair)
{
	const struct trace_answer *a = view->answer->compared;

	return trace_text_thread(view->arena, &a->runs->threads[a->suspects->pairs[pair].good]);
}

/* How many traces at the top of the ranking are equally suspicious. */
static size_t count_first(const struct trace_answer *a)
{
	const struct trace_suspect *first = &a->suspects->ranking[0];
	size_t num = 1;

	while (num < a->suspects->num_pairs && a->suspects->ranking[num].score == first->score &&
	       a->suspects->ranking[num].own == first->own)
		num++;
	return num;
}

/* "3", "3,5" or "3,5,7 and 12 more", of pairs in this order. */
static const char *list_threads(const struct view *view, const uint32_t *pairs, size_t num,
				size_t most)
{
	struct text_list list = {view->arena, NULL};

	for (size_t i = 0; i < num && i < most; i++)
		text_list_add(&list, ",", bad_text(view, pairs[i]));
	if (num > most)
		text_list_add(&list, "", text_of(view, " and %zu more", num - most));
	return list.text;
}

static void print_verdict(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	size_t num = count_first(a);
	uint32_t *pairs;

	if (a->suspects->num_silent == a->suspects->num_aspects) {
		text_wrap(
			view, 0,
			"No rank is suspicious. The %zu traces of %s are as similar to each other "
			"as those of %s, by the attributes compared.",
			a->suspects->num_pairs, run_text(a->names[1]), run_text(a->names[0]));
		return;
	}
	pairs = arena_array(view->arena, num, sizeof(*pairs));
	for (size_t i = 0; i < num; i++)
		pairs[i] = a->suspects->ranking[i].pair;
	text_wrap(view, 0, "Most suspicious: rank%s %s, of %zu traces of %s", num > 1 ? "s" : "",
		  list_threads(view, pairs, num, MOST_SUSPECTS), a->suspects->num_pairs,
		  run_text(a->names[1]));
}

static void print_ranking(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	struct table *table = TABLE_OF(view, ranking_columns);
	size_t shown = a->suspects->num_pairs;

	if (!view->answer->is_full && shown > MOST_SUSPECTS)
		shown = MOST_SUSPECTS;
	if (a->suspects->are_namesakes)
		table_hide(table, "as");
	for (size_t i = 0; i < shown; i++) {
		const struct trace_suspect *s = &a->suspects->ranking[i];

		table_row(table);
		table_text(table, bad_text(view, s->pair));
		table_cell(table, "%.2f", s->score);
		table_cell(table, "%" PRIu32 " of %zu", s->times_first,
			   a->suspects->num_aspects - a->suspects->num_silent);
		table_cell(table, "%.0f %%", 100 * s->own);
		table_text(table, good_text(view, s->pair));
	}
	table_print(table);
	if (shown < a->suspects->num_pairs)
		fprintf(view->out, "  and %zu more (-all)\n", a->suspects->num_pairs - shown);
}

static void print_aspects(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	struct table *table = TABLE_OF(view, aspect_columns);

	text_wrap(view, 0,
		  "Seen by each kind of attributes (B-score 1: the ranks cluster as they did):");
	for (size_t i = 0; i < a->suspects->num_aspects; i++) {
		const struct trace_aspect *aspect = &a->suspects->aspects[i];
		uint32_t *pairs = arena_array(view->arena, a->suspects->num_pairs, sizeof(*pairs));
		size_t num = 0;

		while (num < a->suspects->num_pairs && aspect->suspects[num].change > 0) {
			pairs[num] = aspect->suspects[num].index;
			num++;
		}
		table_row(table);
		table_text(table, trace_text_kind(aspect->kind));
		table_text(table, trace_text_frequency(aspect->frequency));
		if (isnan(aspect->bscore))
			table_text(table, "-");
		else
			table_cell(table, "%.3f", aspect->bscore);
		table_text(table, num > 0 ? list_threads(view, pairs, num, MOST_FIRST) : "nobody");
	}
	table_print(table);
}

static void print_next(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	uint32_t pair = a->suspects->ranking[0].pair;
	bool is_of_job = is_here(a->names[1]);

	if (a->suspects->num_silent < a->suspects->num_aspects)
		text_wrap(view, 2, "next: \"diff %s:%s %s%s%s\"", a->names[0],
			  good_text(view, pair), is_of_job ? "" : a->names[1], is_of_job ? "" : ":",
			  bad_text(view, pair));
}

void view_suspects(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	print_verdict(view);
	if (a->suspects->num_silent < a->suspects->num_aspects) {
		print_ranking(view);
		print_aspects(view);
	}
	trace_text_print_holes(view, a->runs,
			       (const char *[]){run_text(a->names[0]), run_text(a->names[1])});
	print_next(view);
}

static void write_aspect(struct json *json, const struct view *view,
			 const struct trace_aspect *aspect)
{
	json_text(json, "attributes", trace_text_kind(aspect->kind));
	json_text(json, "frequency", trace_text_frequency(aspect->frequency));
	if (!isnan(aspect->bscore))
		json_fixed(json, "bscore", aspect->bscore);
	JSON_OBJECTS(json, "changes", i, view->answer->compared->suspects->num_pairs) {
		const struct suspect *s = &aspect->suspects[i];

		json_text(json, "rank", bad_text(view, s->index));
		json_fixed(json, "change", s->change);
		json_fixed(json, "own", s->own);
	}
}

void view_suspects_json(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	struct json *json = view->json;

	json_text(json, "good", a->names[0]);
	json_text(json, "bad", a->names[1]);
	JSON_OBJECTS(json, "ranking", i, a->suspects->num_pairs) {
		const struct trace_suspect *s = &a->suspects->ranking[i];

		json_text(json, "rank", bad_text(view, s->pair));
		json_text(json, "compared", good_text(view, s->pair));
		json_fixed(json, "suspicion", s->score);
		json_fixed(json, "own", s->own);
		json_count(json, "first", s->times_first);
	}
	JSON_OBJECTS(json, "aspects", i, a->suspects->num_aspects)
		write_aspect(json, view, &a->suspects->aspects[i]);
}
