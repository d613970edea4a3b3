/* SPDX-License-Identifier: BSD-3-Clause
 * diff: how two traces differ, in two columns.
 *
 *	  MPI_Init, main() ring.c:40           MPI_Init, main() ring.c:40
 *	  [ 412 times                        | [ 100 times
 *	    MPI_Send, turn() ring.c:21           MPI_Send, turn() ring.c:21
 *	    MPI_Recv, turn() ring.c:22     <
 *	                                   >     MPI_Probe, turn() ring.c:25
 *	  ]                                    ]
 *
 * "<" is on the left side only, ">" on the right one, "|" not as often on both. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/traces/trace_diff.h"
#include "analysis/traces/trace_runs.h"
#include "model/xalloc.h"
#include "render/text.h"
#include "render/trace_text.h"
#include "render/view.h"
#include "render/view_diff_private.h"
#include "render/view_traces.h"

enum {
	CONTEXT = 3,       /* lines that are the same beside those that are not */
	SHORTEST_FOLD = 3, /* fewer are not folded */
	MOST_ROWS = 400,   /* more are counted, without -all */
};

/* ---- Lines ---- */

static void add_line(struct diff_lines *lines, enum trace_diff_kind kind, enum diff_line_role role,
		     unsigned int depth, char *left, char *right)
{
	lines->lines = xgrow(lines->lines, lines->num, &lines->capacity, sizeof(*lines->lines));
	lines->lines[lines->num++] =
		(struct diff_line){kind, role, depth, left, right, kind != TRACE_DIFF_SAME};
}

static char *count_text(const char *text, uint32_t count)
{
	return count > 1 ? xasprintf("%s, %" PRIu32 " times", text, count) : xstrdup(text);
}

static uint32_t run_of(const struct trace_answer *sides, int side)
{
	return sides->runs->threads[sides->threads[side]].run;
}

/* An event, in one line of its side; NULL: nothing there. */
static char *event_text(const struct trace_answer *sides, int side, const struct trace_element *e)
{
	char *what, *text;

	if (e->symbol == TRACE_NONE)
		return NULL;
	what = trace_text_event(sides->runs, run_of(sides, side), e->symbol);
	text = count_text(what, e->count);
	free(what);
	return text;
}

static char *begin_text(const struct trace_element *e)
{
	return e->symbol == TRACE_NONE ? NULL : xasprintf("[ %" PRIu32 " times", e->count);
}

static char *end_text(const struct trace_element *e)
{
	return e->symbol == TRACE_NONE ? NULL : xstrdup("]");
}

/* A loop that has been shown on its side before. */
static char *again_text(const struct trace_element *e)
{
	return e->symbol == TRACE_NONE ? NULL
				       : xasprintf("[ as above ], %" PRIu32 " time%s", e->count,
						   e->count > 1 ? "s" : "");
}

/* All that is in a loop, which is the same on both sides or only on one. */
static void add_body(struct diff_lines *lines, const struct trace_answer *sides,
		     enum trace_diff_kind kind, unsigned int depth,
		     const struct trace_element *left, const struct trace_element *right)
{
	const struct trace_element nothing = {TRACE_NONE, 0};
	uint32_t loop = left->symbol != TRACE_NONE ? left->symbol : right->symbol;
	size_t num;
	const struct trace_element *row = trace_set_row(sides->runs->set, loop, &num);

	add_line(lines, kind, DIFF_BEGIN, depth, begin_text(left), begin_text(right));
	/* Inside nothing differs but for the sides that there are. */
	if (kind == TRACE_DIFF_COUNT)
		kind = TRACE_DIFF_SAME;
	for (size_t i = 0; i < num; i++) {
		const struct trace_element *l = left->symbol != TRACE_NONE ? &row[i] : &nothing;
		const struct trace_element *r = right->symbol != TRACE_NONE ? &row[i] : &nothing;

		if (TRACE_IS_LOOP(row[i].symbol))
			add_body(lines, sides, kind, depth + 1, l, r);
		else
			add_line(lines, kind, DIFF_EVENT, depth + 1, event_text(sides, 0, l),
				 event_text(sides, 1, r));
	}
	add_line(lines, kind, DIFF_END, depth, end_text(left), end_text(right));
}

static void add_loop(struct diff_lines *lines, const struct trace_answer *sides,
		     const struct trace_diff_row *row, uint32_t loop)
{
	uint8_t *shown = &lines->shown[TRACE_BODY(loop)];

	if (*shown && (row->kind == TRACE_DIFF_LEFT || row->kind == TRACE_DIFF_RIGHT))
		add_line(lines, row->kind, DIFF_EVENT, row->depth, again_text(&row->left),
			 again_text(&row->right));
	else
		add_body(lines, sides, row->kind, row->depth, &row->left, &row->right);
	*shown = 1;
}

static void add_rows(struct diff_lines *lines, const struct trace_answer *sides, size_t begin,
		     size_t end)
{
	for (size_t i = begin; i < end; i++) {
		const struct trace_diff_row *row = &sides->diff->rows[i];
		uint32_t symbol =
			row->left.symbol != TRACE_NONE ? row->left.symbol : row->right.symbol;
		enum trace_diff_kind kind;

		if (row->kind == TRACE_DIFF_BODY) {
			kind = row->left.count == row->right.count ? TRACE_DIFF_SAME
								   : TRACE_DIFF_COUNT;
			add_line(lines, kind, DIFF_BEGIN, row->depth, begin_text(&row->left),
				 begin_text(&row->right));
			if (row->inside == i + 1) {
				add_rows(lines, sides, row->inside, row->inside + row->num_inside);
				i += row->num_inside;
			} else {
				add_line(lines, TRACE_DIFF_SAME, DIFF_EVENT, row->depth + 1,
					 xstrdup("(differs as above)"),
					 xstrdup("(differs as above)"));
			}
			add_line(lines, TRACE_DIFF_SAME, DIFF_END, row->depth, xstrdup("]"),
				 xstrdup("]"));
		} else if (TRACE_IS_LOOP(symbol)) {
			add_loop(lines, sides, row, symbol);
		} else {
			add_line(lines, row->kind, DIFF_EVENT, row->depth,
				 event_text(sides, 0, &row->left),
				 event_text(sides, 1, &row->right));
		}
	}
}

/* What is near a difference, and the loops around it. */
static void keep_lines(struct diff_lines *lines)
{
	size_t *begins = xcalloc(lines->num + 1, sizeof(*begins)), depth = 0, last = SIZE_MAX;

	for (size_t i = 0; i < lines->num; i++) {
		struct diff_line *line = &lines->lines[i];

		if (line->role == DIFF_BEGIN)
			begins[depth++] = i;
		if (line->kind != TRACE_DIFF_SAME) {
			for (size_t k = i > CONTEXT ? i - CONTEXT : 0; k < i; k++)
				lines->lines[k].is_kept = true;
			for (size_t d = 0; d < depth; d++)
				lines->lines[begins[d]].is_kept = true;
			last = i;
		}
		line->is_kept |=
			i == 0 || i + 1 == lines->num || (last != SIZE_MAX && i - last <= CONTEXT);
		if (line->role == DIFF_END)
			depth--;
	}
	/* Both ends of a loop, or none. */
	for (size_t i = 0; i < lines->num; i++) {
		struct diff_line *line = &lines->lines[i], *begin;

		if (line->role == DIFF_BEGIN)
			begins[depth++] = i;
		if (line->role != DIFF_END)
			continue;
		begin = &lines->lines[begins[--depth]];
		line->is_kept = begin->is_kept = line->is_kept || begin->is_kept;
	}
	free(begins);
}

struct diff_lines *diff_lines_create(const struct trace_answer *sides)
{
	struct diff_lines *lines = xcalloc(1, sizeof(*lines));

	lines->shown = xcalloc(sides->runs->set->num_bodies + 1, 1);
	add_rows(lines, sides, 0, sides->diff->num);
	keep_lines(lines);
	return lines;
}

void diff_lines_destroy(struct diff_lines *lines)
{
	for (size_t i = 0; i < lines->num; i++) {
		free(lines->lines[i].left);
		free(lines->lines[i].right);
	}
	free(lines->lines);
	free(lines->shown);
	free(lines);
}

size_t diff_lines_fold(const struct diff_lines *lines, size_t at)
{
	size_t end = at;

	while (end < lines->num && !lines->lines[end].is_kept)
		end++;
	return end - at >= SHORTEST_FOLD ? end - at : 0;
}

/* ---- Text ---- */

static void print_column(const struct view *view, const char *text, unsigned int depth,
			 size_t width, bool is_padded)
{
	size_t indent = 2 * depth < width / 2 ? 2 * depth : width / 2;
	char *fit = text_fit_middle(text ? text : "", width - indent, view->use_unicode);

	fprintf(view->out, "%*s%s", text ? (int)indent : 0, "", fit);
	if (is_padded)
		fprintf(view->out, "%*s", (int)(width - text_columns(fit) - (text ? indent : 0)),
			"");
	free(fit);
}

static void print_line(const struct view *view, const struct diff_line *line)
{
	static const char *const marks[] = {
		[TRACE_DIFF_SAME] = " ", [TRACE_DIFF_COUNT] = "|", [TRACE_DIFF_BODY] = "|",
		[TRACE_DIFF_LEFT] = "<", [TRACE_DIFF_RIGHT] = ">",
	};
	size_t width = ((size_t)view->width - 3) / 2;

	if (line->kind != TRACE_DIFF_SAME)
		text_color(view, TEXT_CULPRIT);
	print_column(view, line->left, line->depth, width, true);
	fprintf(view->out, " %s%s", marks[line->kind], line->right ? " " : "");
	if (line->right)
		print_column(view, line->right, line->depth, width, false);
	if (line->kind != TRACE_DIFF_SAME)
		text_color(view, TEXT_PLAIN);
	fputc('\n', view->out);
}

static void print_head(const struct view *view, const struct trace_answer *sides)
{
	const struct trace_diff *diff = sides->diff;
	uint64_t left = 0, right = 0;

	for (int k = 0; k <= TRACE_DIFF_RIGHT; k++) {
		left += diff->events_left[k];
		right += diff->events_right[k];
	}
	text_wrap(view, 0, "%s: %" PRIu64 " events; %s: %" PRIu64 " events", sides->names[0], left,
		  sides->names[1], right);
}

/* What the marks between the columns mean, if there are any. */
static void print_legend(const struct view *view, const struct diff_lines *lines)
{
	for (size_t i = 0; i < lines->num; i++)
		if (lines->lines[i].kind != TRACE_DIFF_SAME) {
			text_wrap(view, 0,
				  "\"<\": only on the left, \">\": only on the right, \"|\": "
				  "not as often");
			return;
		}
	text_wrap(view, 0, "The traces are the same.");
}

void view_diff(const struct view *view)
{
	const struct trace_answer *sides = view->answer->compared;
	bool all = view->answer->is_full;
	struct diff_lines *lines = diff_lines_create(sides);
	const struct diff_line title = {.left = (char *)sides->names[0],
					.right = (char *)sides->names[1]};
	size_t printed = 0, at = 0;

	print_head(view, sides);
	print_legend(view, lines);
	print_line(view, &title);
	while (at < lines->num && (all || printed < MOST_ROWS)) {
		size_t folded = all ? 0 : diff_lines_fold(lines, at);

		if (folded > 0)
			fprintf(view->out, "  ... %zu lines that are the same (-all)\n", folded);
		else
			print_line(view, &lines->lines[at]);
		at += folded > 0 ? folded : 1;
		printed++;
	}
	if (at < lines->num)
		fprintf(view->out, "  and %zu lines more (-all)\n", lines->num - at);
	trace_text_print_holes(view, sides->runs, NULL);
	diff_lines_destroy(lines);
}
