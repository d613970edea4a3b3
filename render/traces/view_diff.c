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
 * "<" is on the left side only, ">" on the right one, "|" not as often on both. In the picture what
 * both traces have is one box below the other, and what only one of them has is beside: DiffTrace's
 * diffNLR. */
#include "analysis/traces/trace_diff.h"
#include "analysis/traces/trace_runs.h"
#include "render/draw/dot.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/traces/trace_text.h"
#include "render/traces/view_traces.h"
#include "render/view.h"

enum {
	CONTEXT = 3,       /* equal lines shown around a difference */
	SHORTEST_FOLD = 3, /* fewer equal lines are not folded */
	MOST_ROWS = 400,   /* more are only counted, without -all */
	MOST_BOX_LINES = 20,
};

/* ---- Lines ---- */

enum diff_line_role { DIFF_EVENT, DIFF_BEGIN, DIFF_END }; /* of a loop */

struct diff_line {
	enum trace_diff_kind kind; /* not BODY */
	enum diff_line_role role;
	unsigned int depth;       /* loops around it */
	const char *left, *right; /* NULL: nothing on that side */
	bool is_kept;             /* it differs, is near or around a difference, or at an end */
};

/* They live in the view's arena. */
struct diff_lines {
	struct arena *arena;
	const struct trace_answer *sides;
	struct diff_line *lines;
	size_t num, capacity;
	uint8_t *shown; /* [bodies of the set] loops whose bodies were shown above */
};

static void add_line(struct diff_lines *lines, enum trace_diff_kind kind, enum diff_line_role role,
		     unsigned int depth, const char *left, const char *right)
{
	*ARENA_PUSH(lines->arena, lines->lines, lines->num, lines->capacity) =
		(struct diff_line){kind, role, depth, left, right, kind != TRACE_DIFF_SAME};
}

/* An event, in one line of its side; NULL: nothing there. */
static const char *event_text(const struct diff_lines *lines, int side,
			      const struct trace_element *e)
{
	const struct trace_runs *runs = lines->sides->runs;
	const char *what;

	if (e->symbol == TRACE_NONE)
		return NULL;
	what = trace_text_event(lines->arena, runs, runs->threads[lines->sides->threads[side]].run,
				e->symbol);
	return e->count > 1 ? arena_printf(lines->arena, "%s, %" PRIu32 " times", what, e->count)
			    : what;
}

static const char *begin_text(const struct diff_lines *lines, const struct trace_element *e)
{
	return e->symbol == TRACE_NONE
		       ? NULL
		       : arena_printf(lines->arena, "[ %" PRIu32 " times", e->count);
}

static const char *end_text(const struct trace_element *e)
{
	return e->symbol == TRACE_NONE ? NULL : "]";
}

/* A loop already shown on its side. */
static const char *again_text(const struct diff_lines *lines, const struct trace_element *e)
{
	return e->symbol == TRACE_NONE
		       ? NULL
		       : arena_printf(lines->arena, "[ as above ], %" PRIu32 " time%s", e->count,
				      e->count > 1 ? "s" : "");
}

static void add_event(struct diff_lines *lines, enum trace_diff_kind kind, unsigned int depth,
		      const struct trace_element *left, const struct trace_element *right)
{
	add_line(lines, kind, DIFF_EVENT, depth, event_text(lines, 0, left),
		 event_text(lines, 1, right));
}

static void add_begin(struct diff_lines *lines, enum trace_diff_kind kind, unsigned int depth,
		      const struct trace_element *left, const struct trace_element *right)
{
	add_line(lines, kind, DIFF_BEGIN, depth, begin_text(lines, left), begin_text(lines, right));
}

/* Everything in a loop that is the same on both sides or only on one. */
static void add_body(struct diff_lines *lines, enum trace_diff_kind kind, unsigned int depth,
		     const struct trace_element *left, const struct trace_element *right)
{
	const struct trace_element nothing = {TRACE_NONE, 0};
	uint32_t loop = left->symbol != TRACE_NONE ? left->symbol : right->symbol;
	size_t num;
	const struct trace_element *row = trace_set_row(lines->sides->runs->set, loop, &num);

	add_begin(lines, kind, depth, left, right);
	/* Inside the loop nothing differs if both sides have it. */
	if (kind == TRACE_DIFF_COUNT)
		kind = TRACE_DIFF_SAME;
	for (size_t i = 0; i < num; i++) {
		const struct trace_element *l = left->symbol != TRACE_NONE ? &row[i] : &nothing;
		const struct trace_element *r = right->symbol != TRACE_NONE ? &row[i] : &nothing;

		if (TRACE_IS_LOOP(row[i].symbol))
			add_body(lines, kind, depth + 1, l, r);
		else
			add_event(lines, kind, depth + 1, l, r);
	}
	add_line(lines, kind, DIFF_END, depth, end_text(left), end_text(right));
}

static void add_loop(struct diff_lines *lines, const struct trace_diff_row *row, uint32_t loop)
{
	uint8_t *shown = &lines->shown[TRACE_BODY(loop)];

	if (*shown && (row->kind == TRACE_DIFF_LEFT || row->kind == TRACE_DIFF_RIGHT))
		add_line(lines, row->kind, DIFF_EVENT, row->depth, again_text(lines, &row->left),
			 again_text(lines, &row->right));
	else
		add_body(lines, row->kind, row->depth, &row->left, &row->right);
	*shown = 1;
}

static void add_rows(struct diff_lines *lines, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		const struct trace_diff_row *row = &lines->sides->diff->rows[i];
		uint32_t symbol =
			row->left.symbol != TRACE_NONE ? row->left.symbol : row->right.symbol;

		if (row->kind == TRACE_DIFF_BODY) {
			add_begin(lines,
				  row->left.count == row->right.count ? TRACE_DIFF_SAME
								      : TRACE_DIFF_COUNT,
				  row->depth, &row->left, &row->right);
			if (row->inside == i + 1) {
				add_rows(lines, row->inside, row->inside + row->num_inside);
				i += row->num_inside;
			} else {
				add_line(lines, TRACE_DIFF_SAME, DIFF_EVENT, row->depth + 1,
					 "(differs as above)", "(differs as above)");
			}
			add_line(lines, TRACE_DIFF_SAME, DIFF_END, row->depth, "]", "]");
		} else if (TRACE_IS_LOOP(symbol)) {
			add_loop(lines, row, symbol);
		} else {
			add_event(lines, row->kind, row->depth, &row->left, &row->right);
		}
	}
}

/* Lines near a difference, and the loops around it. */
static void keep_lines(struct diff_lines *lines)
{
	size_t *begins = arena_array(lines->arena, lines->num + 1, sizeof(*begins)), depth = 0,
	       last = SIZE_MAX;

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
}

static struct diff_lines *make_lines(const struct view *view)
{
	struct diff_lines *lines = arena_alloc(view->arena, sizeof(*lines));

	*lines = (struct diff_lines){.arena = view->arena, .sides = view->answer->compared};
	lines->shown = arena_array(view->arena, lines->sides->runs->set->num_bodies + 1, 1);
	add_rows(lines, 0, lines->sides->diff->num);
	keep_lines(lines);
	return lines;
}

/* How many lines from `at` on can be folded; 0: too few. */
static size_t count_folded(const struct diff_lines *lines, size_t at)
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
	const char *fit =
		text_fit_middle(view->arena, text ? text : "", width - indent, view->use_unicode);

	fprintf(view->out, "%*s%s", text ? (int)indent : 0, "", fit);
	if (is_padded)
		fprintf(view->out, "%*s", (int)(width - text_columns(fit) - (text ? indent : 0)),
			"");
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
				  "\"<\": only on the left, \">\": only on the right, \"|\": not "
				  "as often");
			return;
		}
	text_wrap(view, 0, "The traces are the same.");
}

void view_diff(const struct view *view)
{
	const struct trace_answer *sides = view->answer->compared;
	bool all = view->answer->is_full;
	struct diff_lines *lines = make_lines(view);
	const struct diff_line title = {.left = sides->names[0], .right = sides->names[1]};
	size_t printed = 0, at = 0;

	print_head(view, sides);
	print_legend(view, lines);
	print_line(view, &title);
	while (at < lines->num && (all || printed < MOST_ROWS)) {
		size_t folded = all ? 0 : count_folded(lines, at);

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
}

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

/* A box of the lines from `at` to `end` of a kind. Returns its node; UINT32_MAX: there are none. */
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
		folded = count_folded(lines, at);
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

/* The end of the equal, or different, piece that begins at `at`. */
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
	struct diff_lines *lines = make_lines(view);
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

/* Nested loops are written out; temporary data of one element is freed with it. */
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
		struct arena *arena SCOPED(arena) = arena_create();
		uint32_t run = sides->runs->threads[sides->threads[side]].run;

		json_text(json, "event", trace_text_event(arena, sides->runs, run, e->symbol));
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
			/* A body that was compared before is written only once; here its number is
			 * enough. */
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
	struct json *json = view->json;

	json_text(json, "left", sides->names[0]);
	json_text(json, "right", sides->names[1]);
	write_rows(json, sides, 0, sides->diff->num);
}
