/* SPDX-License-Identifier: BSD-3-Clause
 * diff as a picture, and as data. In the picture what both traces have is one box below the other,
 * and what only one of them has is beside: DiffTrace's diffNLR. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/traces/trace_diff.h"
#include "model/arena.h"
#include "render/dot.h"
#include "render/json.h"
#include "render/text.h"
#include "render/trace_text.h"
#include "render/view.h"
#include "render/view_diff_private.h"
#include "render/view_traces.h"

enum { MOST_BOX_LINES = 20 };

/* ---- DOT ---- */

static bool is_common(enum trace_diff_kind kind)
{
	return kind == TRACE_DIFF_SAME || kind == TRACE_DIFF_COUNT;
}

static void write_line(FILE *out, const struct diff_line *line)
{
	fprintf(out, "%*s", (int)(2 * line->depth), "");
	if (line->kind == TRACE_DIFF_COUNT)
		fprintf(out, "%s | %s\n", line->left, line->right);
	else
		fprintf(out, "%s\n", line->left ? line->left : line->right);
}

/* A box of the lines from `at` to `end` that are in it: common ones, or of one side. Its node, or
 * UINT32_MAX if there are none. */
static uint32_t add_box(struct dot *dot, const struct diff_lines *lines, size_t at, size_t end,
			enum trace_diff_kind kind, const char *title)
{
	size_t size, num = 0;
	char *label;
	FILE *out = open_memstream(&label, &size);

	if (title)
		fprintf(out, "%s\n", title);
	for (; at < end; at++) {
		const struct diff_line *line = &lines->lines[at];
		size_t folded;

		if (is_common(kind) != is_common(line->kind) ||
		    (!is_common(kind) && line->kind != kind))
			continue;
		folded = diff_lines_fold(lines, at);
		if (folded > 0) {
			fprintf(out, "... %zu lines\n", folded);
			at += folded - 1;
		} else if (num < MOST_BOX_LINES || is_common(kind)) {
			write_line(out, line);
		}
		num++;
	}
	if (num > MOST_BOX_LINES && !is_common(kind))
		fprintf(out, "and %zu more\n", num - MOST_BOX_LINES);
	fclose(out);
	arena_keep(lines->arena, label, free);
	return num == 0 ? UINT32_MAX
			: dot_node(dot, label, num, is_common(kind) ? DOT_PLAIN : DOT_STRONG);
}

/* The end of a piece that is the same, or not, from `at` on. */
static size_t piece_end(const struct diff_lines *lines, size_t at)
{
	bool common = is_common(lines->lines[at].kind);

	while (at < lines->num && is_common(lines->lines[at].kind) == common)
		at++;
	return at;
}

void view_diff_dot(const struct view *view)
{
	const struct trace_answer *sides = view->answer->compared;
	struct diff_lines *lines = diff_lines_create(view);
	const char *title =
		text_of(view, "%s, and %s: what both do, and what only one of them does",
			sides->names[0], sides->names[1]);
	struct dot *dot = dot_create(view->arena, title, "pieces");
	uint32_t before[2] = {UINT32_MAX, UINT32_MAX}; /* nodes that lead to the next piece */

	dot_list_lines(dot);
	for (size_t at = 0, end; at < lines->num; at = end) {
		uint32_t nodes[2];

		end = piece_end(lines, at);
		if (is_common(lines->lines[at].kind)) {
			nodes[0] = nodes[1] = add_box(dot, lines, at, end, TRACE_DIFF_SAME, NULL);
		} else {
			nodes[0] = add_box(dot, lines, at, end, TRACE_DIFF_LEFT, sides->names[0]);
			nodes[1] = add_box(dot, lines, at, end, TRACE_DIFF_RIGHT, sides->names[1]);
		}
		for (int side = 0; side < 2; side++) {
			if (nodes[side] == UINT32_MAX)
				nodes[side] = before[side];
			else if (before[side] != UINT32_MAX &&
				 (side == 0 || before[1] != before[0] || nodes[1] != nodes[0]))
				dot_edge(dot, before[side], nodes[side], NULL);
			before[side] = nodes[side];
		}
	}
	dot_write(dot, view->out);
}

/* ---- JSON ---- */

/* All loops inside it are written out, so that what is made for one is freed with it. */
static void write_element(struct json *json, const char *key, const struct trace_answer *sides,
			  int side, const struct trace_element *e)
{
	json_object(json, key);
	json_count(json, "count", e->count);
	if (TRACE_IS_LOOP(e->symbol)) {
		size_t num;
		const struct trace_element *row = trace_set_row(sides->runs->set, e->symbol, &num);

		json_array(json, "body");
		for (size_t i = 0; i < num; i++)
			write_element(json, NULL, sides, side, &row[i]);
		json_end_array(json);
	} else {
		struct arena *arena = arena_create();
		uint32_t run = sides->runs->threads[sides->threads[side]].run;

		json_text(json, "event", trace_text_event(arena, sides->runs, run, e->symbol));
		arena_destroy(arena);
	}
	json_end_object(json);
}

static void write_rows(struct json *json, const struct trace_answer *sides, size_t begin,
		       size_t end)
{
	static const char *const kinds[] = {
		[TRACE_DIFF_SAME] = "same",   [TRACE_DIFF_COUNT] = "count",
		[TRACE_DIFF_BODY] = "body",   [TRACE_DIFF_LEFT] = "left",
		[TRACE_DIFF_RIGHT] = "right",
	};

	json_array(json, "rows");
	for (size_t i = begin; i < end; i++) {
		const struct trace_diff_row *row = &sides->diff->rows[i];

		json_object(json, NULL);
		json_text(json, "kind", kinds[row->kind]);
		if (row->kind == TRACE_DIFF_BODY) {
			json_count(json, "left", row->left.count);
			json_count(json, "right", row->right.count);
			/* What was compared before is there once. */
			if (row->inside == i + 1) {
				json_count(json, "number", i);
				write_rows(json, sides, row->inside, row->inside + row->num_inside);
				i += row->num_inside;
			} else {
				json_count(json, "as", row->inside - 1);
			}
		} else {
			if (row->left.symbol != TRACE_NONE)
				write_element(json, "left", sides, 0, &row->left);
			if (row->right.symbol != TRACE_NONE)
				write_element(json, "right", sides, 1, &row->right);
		}
		json_end_object(json);
	}
	json_end_array(json);
}

void view_diff_json(const struct view *view)
{
	const struct trace_answer *sides = view->answer->compared;
	struct json json = {.out = view->out};

	json_object(&json, NULL);
	json_text(&json, "left", sides->names[0]);
	json_text(&json, "right", sides->names[1]);
	write_rows(&json, sides, 0, sides->diff->num);
	json_end_object(&json);
}
