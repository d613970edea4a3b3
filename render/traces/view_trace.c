/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/traces/view_traces.h"

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/names.h"
#include "model/job/traces.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"

enum {
	MAX_ELEMENTS = 400, /* elements of the sequence; half of them from its beginning */
	MAX_INLINE = 6,     /* most elements of a body on one line */
	MIN_PLACE = 24,     /* columns */
};

struct printer {
	const struct view *view;
	const struct traces *traces;
	const struct traces_lane *lane;
	size_t place_at; /* the column of places */
};

static const struct traces_symbol *symbol_of(const struct printer *p, uint32_t local)
{
	return &p->traces->symbols[p->lane->symbols[local]];
}

/* "Isend", "solve()", "solve() returns". */
static const char *symbol_text(const struct printer *p, uint32_t local)
{
	const struct traces_symbol *symbol = symbol_of(p, local);

	if (symbol->name)
		return strncmp(symbol->name, "MPI_", 4) == 0 ? symbol->name + 4 : symbol->name;
	return text_of(p->view, "%s()%s",
		       label_function(p->view->arena,
				      names_function(p->view->job->names, symbol->path)->function),
		       symbol->kind == SEG_TRACE_LEAVE ? " returns" : "");
}

/* The frame that a symbol is placed at. */
static uint32_t frame_of(const struct printer *p, uint32_t local)
{
	const struct traces_symbol *symbol = symbol_of(p, local);

	return symbol->kind == SEG_TRACE_CALL ? names_user_frame(p->view->job->names, symbol->path)
					      : symbol->path;
}

static const char *place_text(const struct printer *p, uint32_t local)
{
	uint32_t frame = frame_of(p, local);

	return frame == CALLPATH_NONE ? "" : label_place(p->view, frame, LABEL_SHORT);
}

/* A line: text, and in its own column the place. */
static const char *line_text(const struct printer *p, size_t indent, const char *text,
			     const char *place)
{
	size_t width = (size_t)p->view->width, used = indent + strlen(text), at = p->place_at;

	if (!*place)
		return text_of(p->view, "%*s%s\n", (int)indent, "", text);
	at = used + 2 > at ? used + 2 : at;
	return text_of(p->view, "%*s%s%*s%s\n", (int)indent, "", text, (int)(at - used), "",
		       text_fit_middle(p->view->arena, place,
				       width > at + MIN_PLACE ? width - at : MIN_PLACE,
				       p->view->use_unicode));
}

static void print_line(const struct printer *p, size_t indent, const char *text, const char *place)
{
	fputs(line_text(p, indent, text, place), p->view->out);
}

static const char *with_count(const struct printer *p, struct trace_element e)
{
	const char *text = symbol_text(p, e.symbol);

	return e.count == 1 ? text : text_of(p->view, "%s^%u", text, e.count);
}

/* ---- Loops in one line ---- */

/* Are both frames in one function, as far as names show? */
static bool is_same_function(const struct printer *p, uint32_t a, uint32_t b)
{
	const struct name *x = names_get(p->view->job->names, a);
	const struct name *y = names_get(p->view->job->names, b);

	return strcmp(x->function, y->function) == 0 && (x->file != NULL) == (y->file != NULL) &&
	       (!x->file || strcmp(x->file, y->file) == 0);
}

/* "exchange() halo.c:33-38"; NULL: it is more than one function, or too much for a line. */
static const char *inline_place(const struct printer *p, const struct trace_element *row,
				uint32_t num)
{
	uint32_t first = TRACE_IS_LOOP(row[0].symbol) ? CALLPATH_NONE : frame_of(p, row[0].symbol);
	int low = 0, high = 0;
	const char *place;

	if (num > MAX_INLINE || first == CALLPATH_NONE)
		return NULL;
	low = high = names_get(p->view->job->names, first)->line;
	for (uint32_t i = 0; i < num; i++) {
		uint32_t frame =
			TRACE_IS_LOOP(row[i].symbol) ? CALLPATH_NONE : frame_of(p, row[i].symbol);
		int line;

		if (frame == CALLPATH_NONE || symbol_of(p, row[i].symbol)->kind != SEG_TRACE_CALL ||
		    !is_same_function(p, first, frame))
			return NULL;
		line = names_get(p->view->job->names, frame)->line;
		if (line < low) {
			low = line;
			first = frame;
		}
		high = line > high ? line : high;
	}
	place = label_place(p->view, first, LABEL_SHORT);
	if (low == high || low == 0)
		return place;
	return text_of(p->view, "%s-%d", place, high);
}

static const char *inline_body(const struct printer *p, const struct trace_element *row,
			       uint32_t num)
{
	struct text_list list = {p->view->arena, "["};

	for (uint32_t i = 0; i < num; i++)
		text_list_add(&list, " ", with_count(p, row[i]));
	return list.text;
}

/* Print a loop in one line, if it fits. */
static bool print_inline(const struct printer *p, const struct trace_element *row, uint32_t num,
			 uint32_t count, size_t indent)
{
	const char *place = inline_place(p, row, num), *text;
	bool fits;

	if (!place)
		return false;
	text = text_of(p->view, "%s ]^%u", inline_body(p, row, num), count);
	fits = indent + strlen(text) + 2 + strlen(place) <= (size_t)p->view->width;
	if (fits)
		print_line(p, indent, text, place);
	return fits;
}

/* ---- Elements ---- */

/* Deep nests are not indented beyond a third of the line. */
static size_t indent_of(const struct printer *p, unsigned int depth)
{
	size_t indent = 2 + 2 * (size_t)depth, most = (size_t)p->view->width / 3;

	return indent < most ? indent : most;
}

/* Loops are at most TRACE_MAX_DEPTH deep. */
static void print_element(const struct printer *p, struct trace_element e, unsigned int depth)
{
	size_t indent = indent_of(p, depth);
	const struct trace_element *row;
	uint32_t num;

	if (!TRACE_IS_LOOP(e.symbol)) {
		print_line(p, indent, with_count(p, e), place_text(p, e.symbol));
		return;
	}
	row = trace_body_of(p->lane->trace, e.symbol, &num);
	if (print_inline(p, row, num, e.count, indent))
		return;
	print_line(p, indent, "[", "");
	for (uint32_t i = 0; i < num; i++)
		print_element(p, row[i], depth + 1);
	print_line(p, indent, text_of(p->view, "]^%u", e.count), "");
}

static bool print_head(const struct printer *p)
{
	const struct traces_lane *lane = p->lane;

	if (!lane->trace) {
		text_wrap(p->view, 0, "rank %d has no trace of this thread: %s", lane->rank,
			  lane->note);
		return false;
	}
	text_wrap(p->view, 0, "rank %d%s: %" PRIu64 " events, the first ones first", lane->rank,
		  lane->is_main ? "" : text_of(p->view, ", thread %d", lane->lane),
		  lane->trace->num_events);
	return true;
}

static void print_loops(const struct printer *p)
{
	const struct trace *trace = p->lane->trace;

	for (size_t i = 0; i < trace->num; i++) {
		if (i == MAX_ELEMENTS / 2 && trace->num > MAX_ELEMENTS) {
			size_t left_out = trace->num - MAX_ELEMENTS;

			text_wrap(p->view, 2,
				  "... %zu more entries: trace %d --full, or > FILE.json", left_out,
				  p->lane->rank);
			i += left_out;
		}
		print_element(p, trace->sequence[i], 0);
	}
}

static void print_events(const struct printer *p)
{
	/* By symbol: there may be millions of events. */
	const char **lines = arena_array(p->view->arena, p->lane->num_local, sizeof(*lines));
	FILE *out = p->view->out;
	struct trace_walk walk;
	uint32_t symbol, count;

	trace_walk_init(&walk, p->lane->trace);
	while (!ferror(out) && trace_walk_next(&walk, &symbol, &count)) {
		if (!lines[symbol])
			lines[symbol] =
				line_text(p, 2, symbol_text(p, symbol), place_text(p, symbol));
		while (count-- > 0 && !ferror(out))
			fputs(lines[symbol], out);
	}
}

void view_trace(const struct view *view)
{
	const struct trace *trace = view->answer->lane->trace;
	const struct printer p = {view, view->answer->traces, view->answer->lane,
				  (size_t)view->width / 2};

	if (!print_head(&p))
		return;
	if (view->answer->is_full)
		print_events(&p);
	else
		print_loops(&p);
	if (trace->is_truncated)
		text_wrap(view, 2,
			  "truncated after %" PRIu64 " events: the trace was full, and %" PRIu64
			  " later ones are not in it (PDB_TRACE gives it more room)",
			  trace->num_events, trace->num_lost);
}

/* ---- JSON ---- */

static const char *const kinds[SEG_TRACE_KINDS] = {
	[SEG_TRACE_CALL] = "call",
	[SEG_TRACE_ENTER] = "enter",
	[SEG_TRACE_LEAVE] = "return",
};

static void write_symbols(struct json *json, const struct printer *p)
{
	json_array(json, "symbols");
	for (uint32_t i = 0; i < p->lane->num_local; i++) {
		const struct traces_symbol *symbol;

		if (p->lane->symbols[i] == TRACE_NONE)
			continue;
		symbol = symbol_of(p, i);
		json_object(json, NULL);
		json_count(json, "symbol", i);
		json_text(json, "kind", kinds[symbol->kind]);
		json_text(json, "name",
			  symbol->name
				  ? symbol->name
				  : names_function(p->view->job->names, symbol->path)->function);
		json_text(json, "place", place_text(p, i));
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_row(struct json *json, const char *key, const struct trace_element *row,
		      size_t num)
{
	JSON_OBJECTS(json, key, i, num) {
		json_count(json, TRACE_IS_LOOP(row[i].symbol) ? "loop" : "symbol",
			   TRACE_BODY(row[i].symbol));
		json_count(json, "count", row[i].count);
	}
}

void view_trace_json(const struct view *view)
{
	const struct traces_lane *lane = view->answer->lane;
	const struct printer p = {view, view->answer->traces, lane, 0};
	const struct trace *trace = lane->trace;
	struct json *json = view->json;

	json_int(json, "rank", lane->rank);
	json_int(json, "thread", lane->lane);
	if (!trace) {
		json_text(json, "note", lane->note);
	} else {
		json_count(json, "events", trace->num_events);
		json_count(json, "lost", trace->num_lost);
		json_bool(json, "truncated", trace->is_truncated);
		write_symbols(json, &p);
		json_array(json, "bodies");
		for (size_t i = 0; i < trace->num_bodies; i++)
			write_row(json, NULL, &trace->elements[trace->bodies[i].first],
				  trace->bodies[i].num);
		json_end_array(json);
		write_row(json, "sequence", trace->sequence, trace->num);
	}
}
