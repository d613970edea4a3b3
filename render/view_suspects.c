/* SPDX-License-Identifier: BSD-3-Clause
 * suspects: which ranks behave differently in a bad run. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/traces/trace_runs.h"
#include "analysis/traces/trace_suspects.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/json.h"
#include "render/label.h"
#include "render/table.h"
#include "render/text.h"
#include "render/trace_text.h"
#include "render/view.h"
#include "render/view_traces.h"

enum { MOST_SUSPECTS = 10, MOST_FIRST = 5 };

static const struct table_column ranking_columns[] = {
	{.name = "rank", .header = "rank", .align = TABLE_RIGHT, .min_width = 4},
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

static const struct trace_thread *bad_thread(const struct trace_answer *a, uint32_t pair)
{
	return &a->runs->threads[a->suspects->pairs[pair].bad];
}

/* How many of the ranking are as suspicious as the first. */
static size_t count_first(const struct trace_answer *a)
{
	const struct trace_suspect *first = &a->suspects->ranking[0];
	size_t num = 1;

	while (num < a->suspects->num_pairs && a->suspects->ranking[num].score == first->score &&
	       a->suspects->ranking[num].own == first->own)
		num++;
	return num;
}

/* "3", "3,5" or "3,5,7 and 12 more", of pairs in this order. The caller frees. */
static char *list_threads(const struct trace_answer *a, const uint32_t *pairs, size_t num,
			  size_t most)
{
	char *list;
	size_t size;
	FILE *out = open_memstream(&list, &size);

	for (size_t i = 0; i < num && i < most; i++) {
		char *thread = trace_text_thread(bad_thread(a, pairs[i]));

		fprintf(out, "%s%s", i > 0 ? "," : "", thread);
		free(thread);
	}
	if (num > most)
		fprintf(out, " and %zu more", num - most);
	fclose(out);
	return list;
}

static void print_verdict(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	size_t num = count_first(a);
	uint32_t *pairs;
	char *list;

	if (a->suspects->num_silent == a->suspects->num_aspects) {
		text_wrap(
			view, 0,
			"No rank is suspicious. By what is compared here the %zu traces of %s are "
			"as similar to each other as those of %s.",
			a->suspects->num_pairs, run_text(a->names[1]), run_text(a->names[0]));
		return;
	}
	pairs = xcalloc(num, sizeof(*pairs));
	for (size_t i = 0; i < num; i++)
		pairs[i] = a->suspects->ranking[i].pair;
	list = list_threads(a, pairs, num, MOST_SUSPECTS);
	text_wrap(view, 0, "Most suspicious: rank%s %s, of %zu traces of %s", num > 1 ? "s" : "",
		  list, a->suspects->num_pairs, run_text(a->names[1]));
	free(list);
	free(pairs);
}

static void print_ranking(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	struct table *table = table_create(ranking_columns, 5);
	size_t shown = a->suspects->num_pairs;

	if (!view->answer->is_full && shown > MOST_SUSPECTS)
		shown = MOST_SUSPECTS;
	if (a->suspects->are_namesakes)
		table_hide(table, "as");
	for (size_t i = 0; i < shown; i++) {
		const struct trace_suspect *s = &a->suspects->ranking[i];
		char *thread = trace_text_thread(bad_thread(a, s->pair));
		char *mate = trace_text_thread(&a->runs->threads[a->suspects->pairs[s->pair].good]);

		table_row(table);
		table_cell(table, "%s", thread);
		table_cell(table, "%.2f", s->score);
		table_cell(table, "%" PRIu32 " of %zu", s->times_first,
			   a->suspects->num_aspects - a->suspects->num_silent);
		table_cell(table, "%.0f %%", 100 * s->own);
		table_cell(table, "%s", mate);
		free(thread);
		free(mate);
	}
	table_print(table, view);
	table_destroy(table);
	if (shown < a->suspects->num_pairs)
		fprintf(view->out, "  and %zu more (-all)\n", a->suspects->num_pairs - shown);
}

static void print_aspects(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	struct table *table = table_create(aspect_columns, 4);

	text_wrap(view, 0,
		  "Seen by each kind of attributes (B-score 1: the ranks cluster as they did):");
	for (size_t i = 0; i < a->suspects->num_aspects; i++) {
		const struct trace_aspect *aspect = &a->suspects->aspects[i];
		uint32_t *pairs = xcalloc(a->suspects->num_pairs, sizeof(*pairs));
		size_t num = 0;
		char *list;

		while (num < a->suspects->num_pairs && aspect->suspects[num].change > 0) {
			pairs[num] = aspect->suspects[num].index;
			num++;
		}
		list = list_threads(a, pairs, num, MOST_FIRST);
		table_row(table);
		table_cell(table, "%s", trace_text_kind(aspect->kind));
		table_cell(table, "%s", trace_text_frequency(aspect->frequency));
		if (isnan(aspect->bscore))
			table_cell(table, "-");
		else
			table_cell(table, "%.3f", aspect->bscore);
		table_cell(table, "%s", num > 0 ? list : "nobody");
		free(list);
		free(pairs);
	}
	table_print(table, view);
	table_destroy(table);
}

static void print_next(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	const struct trace_pair *pair = &a->suspects->pairs[a->suspects->ranking[0].pair];
	char *good = trace_text_thread(&a->runs->threads[pair->good]);
	char *bad = trace_text_thread(&a->runs->threads[pair->bad]);

	if (a->suspects->num_silent < a->suspects->num_aspects)
		text_wrap(view, 2, "next: \"diff %s:%s %s%s%s\"", a->names[0], good,
			  is_here(a->names[1]) ? "" : a->names[1], is_here(a->names[1]) ? "" : ":",
			  bad);
	free(good);
	free(bad);
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

/* ---- JSON ---- */

static void write_aspect(FILE *out, const struct trace_answer *a, const struct trace_aspect *aspect)
{
	fprintf(out, "{\"attributes\": \"%s\", \"frequency\": \"%s\", ",
		trace_text_kind(aspect->kind), trace_text_frequency(aspect->frequency));
	if (!isnan(aspect->bscore))
		fprintf(out, "\"bscore\": %.6f, ", aspect->bscore);
	fputs("\"changes\": [", out);
	for (size_t i = 0; i < a->suspects->num_pairs; i++) {
		const struct suspect *s = &aspect->suspects[i];
		char *thread = trace_text_thread(bad_thread(a, s->index));

		fprintf(out, "%s{\"rank\": \"%s\", \"change\": %.6f, \"own\": %.6f}",
			i > 0 ? ", " : "", thread, s->change, s->own);
		free(thread);
	}
	fputs("]}", out);
}

void view_suspects_json(const struct view *view)
{
	const struct trace_answer *a = view->answer->compared;
	FILE *out = view->out;

	fputs("{\"good\": ", out);
	json_quote(out, a->names[0]);
	fputs(", \"bad\": ", out);
	json_quote(out, a->names[1]);
	fputs(", \"ranking\": [", out);
	for (size_t i = 0; i < a->suspects->num_pairs; i++) {
		const struct trace_suspect *s = &a->suspects->ranking[i];
		const struct trace_pair *pair = &a->suspects->pairs[s->pair];
		char *bad = trace_text_thread(&a->runs->threads[pair->bad]);
		char *good = trace_text_thread(&a->runs->threads[pair->good]);

		fprintf(out,
			"%s{\"rank\": \"%s\", \"compared\": \"%s\", \"suspicion\": %.6f, "
			"\"own\": "
			"%.6f, \"first\": %" PRIu32 "}",
			i > 0 ? ", " : "", bad, good, s->score, s->own, s->times_first);
		free(good);
		free(bad);
	}
	fputs("], \"aspects\": [", out);
	for (size_t i = 0; i < a->suspects->num_aspects; i++) {
		fputs(i > 0 ? ", " : "", out);
		write_aspect(out, a, &a->suspects->aspects[i]);
	}
	fputs("]}", out);
}
