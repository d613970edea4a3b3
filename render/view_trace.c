/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/view_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/names.h"
#include "model/job/traces.h"
#include "model/xalloc.h"
#include "render/json.h"
#include "render/label.h"
#include "render/text.h"
#include "render/view.h"

enum {
	MAX_ELEMENTS = 400, /* of the sequence; half of them at its beginning */
	MAX_INLINE = 6,     /* elements of a body that stands in one line */
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
static char *symbol_text(const struct printer *p, uint32_t local)
{
	const struct traces_symbol *symbol = symbol_of(p, local);
	char *function, *text;

	if (symbol->name)
		return xstrdup(strncmp(symbol->name, "MPI_", 4) == 0 ? symbol->name + 4
								     : symbol->name);
	function = label_function(names_function(p->view->job->names, symbol->path)->function);
	text = xasprintf("%s()%s", function, symbol->kind == SEG_TRACE_LEAVE ? " returns" : "");
	free(function);
	return text;
}

/* The frame that a symbol is placed at. */
static uint32_t frame_of(const struct printer *p, uint32_t local)
{
	const struct traces_symbol *symbol = symbol_of(p, local);

	return symbol->kind == SEG_TRACE_CALL ? names_user_frame(p->view->job->names, symbol->path)
					      : symbol->path;
}

static char *place_text(const struct printer *p, uint32_t local)
{
	uint32_t frame = frame_of(p, local);

	return frame == CALLPATH_NONE ? xstrdup("") : label_place(p->view->job, frame, LABEL_SHORT);
}

/* A line: text, and in its own column the place. */
static void print_line(const struct printer *p, size_t indent, const char *text, const char *place)
{
	size_t width = (size_t)p->view->width, used = indent + strlen(text), at = p->place_at;
	char *fitted;

	fprintf(p->view->out, "%*s%s", (int)indent, "", text);
	if (*place) {
		at = used + 2 > at ? used + 2 : at;
		fitted = text_fit_middle(place, width > at + MIN_PLACE ? width - at : MIN_PLACE,
					 p->view->use_unicode);
		fprintf(p->view->out, "%*s%s", (int)(at - used), "", fitted);
		free(fitted);
	}
	fputc('\n', p->view->out);
}

static char *with_count(char *text, uint32_t count)
{
	char *counted;

	if (count == 1)
		return text;
	counted = xasprintf("%s^%u", text, count);
	free(text);
	return counted;
}

/* ---- Loops in one line ---- */

/* Do both frames lie in one function, as far as names tell? */
static bool is_same_function(const struct printer *p, uint32_t a, uint32_t b)
{
	const struct name *x = names_get(p->view->job->names, a);
	const struct name *y = names_get(p->view->job->names, b);

	return strcmp(x->function, y->function) == 0 && (x->file != NULL) == (y->file != NULL) &&
	       (!x->file || strcmp(x->file, y->file) == 0);
}

/* "exchange() halo.c:33-38"; NULL: it is more than one function, or too much for a line. */
static char *inline_place(const struct printer *p, const struct trace_element *row, uint32_t num)
{
	uint32_t first = TRACE_IS_LOOP(row[0].symbol) ? CALLPATH_NONE : frame_of(p, row[0].symbol);
	int low = 0, high = 0;
	char *place, *range;

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
	place = label_place(p->view->job, first, LABEL_SHORT);
	if (low == high || low == 0)
		return place;
	range = xasprintf("%s-%d", place, high);
	free(place);
	return range;
}

static char *inline_body(const struct printer *p, const struct trace_element *row, uint32_t num)
{
	char *text = xstrdup("[");

	for (uint32_t i = 0; i < num; i++) {
		char *one = with_count(symbol_text(p, row[i].symbol), row[i].count);
		char *longer = xasprintf("%s %s", text, one);

		free(one);
		free(text);
		text = longer;
	}
	return text;
}

/* Print a loop in one line, if it fits. */
static bool print_inline(const struct printer *p, const struct trace_element *row, uint32_t num,
			 uint32_t count, size_t indent)
{
	char *place = inline_place(p, row, num), *body, *text;
	bool fits;

	if (!place)
		return false;
	body = inline_body(p, row, num);
	text = xasprintf("%s ]^%u", body, count);
	fits = indent + strlen(text) + 2 + strlen(place) <= (size_t)p->view->width;
	if (fits)
		print_line(p, indent, text, place);
	free(text);
	free(body);
	free(place);
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
	char *text, *place;
	uint32_t num;

	if (!TRACE_IS_LOOP(e.symbol)) {
		text = with_count(symbol_text(p, e.symbol), e.count);
		place = place_text(p, e.symbol);
		print_line(p, indent, text, place);
		free(text);
		free(place);
		return;
	}
	row = trace_body_of(p->lane->trace, e.symbol, &num);
	if (print_inline(p, row, num, e.count, indent))
		return;
	print_line(p, indent, "[", "");
	for (uint32_t i = 0; i < num; i++)
		print_element(p, row[i], depth + 1);
	text = xasprintf("]^%u", e.count);
	print_line(p, indent, text, "");
	free(text);
}

static void print_end(const struct printer *p)
{
	const struct trace *trace = p->lane->trace;

	if (trace->is_truncated)
		text_wrap(p->view, 2,
			  "truncated after %" PRIu64 " events: the trace was full, and %" PRIu64
			  " later ones are not in it (PDB_TRACE gives it more room)",
			  trace->num_events, trace->num_lost);
}

static bool print_head(const struct printer *p)
{
	const struct traces_lane *lane = p->lane;

	if (!lane->trace) {
		text_wrap(p->view, 0, "rank %d has no trace of this thread: %s", lane->rank,
			  lane->note);
		return false;
	}
	if (lane->is_main)
		text_wrap(p->view, 0, "rank %d: %" PRIu64 " events, the first ones first",
			  lane->rank, lane->trace->num_events);
	else
		text_wrap(p->view, 0,
			  "rank %d, thread %d: %" PRIu64 " events, the first ones first",
			  lane->rank, lane->lane, lane->trace->num_events);
	return true;
}

static void print_loops(const struct view *view)
{
	const struct traces_lane *lane = view->answer->lane;
	const struct printer p = {view, view->answer->traces, lane, (size_t)view->width / 2};
	const struct trace *trace = lane->trace;

	if (!print_head(&p))
		return;
	for (size_t i = 0; i < trace->num; i++) {
		if (i == MAX_ELEMENTS / 2 && trace->num > MAX_ELEMENTS) {
			size_t left_out = trace->num - MAX_ELEMENTS;

			text_wrap(view, 2, "... %zu more entries: trace %d --full, or > FILE.json",
				  left_out, lane->rank);
			i += left_out;
		}
		print_element(&p, trace->sequence[i], 0);
	}
	print_end(&p);
}

static void print_events(const struct view *view)
{
	const struct traces_lane *lane = view->answer->lane;
	const struct printer p = {view, view->answer->traces, lane, (size_t)view->width / 2};
	struct trace_walk walk;
	uint32_t symbol, count;

	if (!print_head(&p))
		return;
	trace_walk_init(&walk, lane->trace);
	while (!ferror(view->out) && trace_walk_next(&walk, &symbol, &count)) {
		char *text = symbol_text(&p, symbol), *place = place_text(&p, symbol);

		while (count-- > 0 && !ferror(view->out))
			print_line(&p, 2, text, place);
		free(text);
		free(place);
	}
	print_end(&p);
}

void view_trace(const struct view *view)
{
	if (view->answer->is_full)
		print_events(view);
	else
		print_loops(view);
}

/* ---- JSON ---- */

static const char *const kinds[SEG_TRACE_KINDS] = {
	[SEG_TRACE_CALL] = "call",
	[SEG_TRACE_ENTER] = "enter",
	[SEG_TRACE_LEAVE] = "return",
};

static void json_symbols(const struct printer *p)
{
	const struct view *view = p->view;
	const char *separator = "";

	for (uint32_t i = 0; i < p->lane->num_local; i++) {
		const struct traces_symbol *symbol;
		char *place;

		if (p->lane->symbols[i] == TRACE_NONE)
			continue;
		symbol = symbol_of(p, i);
		place = place_text(p, i);
		fprintf(view->out, "%s{\"symbol\": %u, \"kind\": \"%s\", \"name\": ", separator, i,
			kinds[symbol->kind]);
		json_quote(view->out,
			   symbol->name ? symbol->name
					: names_function(view->job->names, symbol->path)->function);
		fputs(", \"place\": ", view->out);
		json_quote(view->out, place);
		fputc('}', view->out);
		separator = ", ";
		free(place);
	}
}

static void json_row(FILE *out, const struct trace_element *row, size_t num)
{
	fputc('[', out);
	for (size_t i = 0; i < num; i++)
		fprintf(out, "%s{\"%s\": %u, \"count\": %u}", i > 0 ? ", " : "",
			TRACE_IS_LOOP(row[i].symbol) ? "loop" : "symbol", TRACE_BODY(row[i].symbol),
			row[i].count);
	fputc(']', out);
}

void view_trace_json(const struct view *view)
{
	const struct traces_lane *lane = view->answer->lane;
	const struct printer p = {view, view->answer->traces, lane, 0};
	const struct trace *trace = lane->trace;
	FILE *out = view->out;

	fprintf(out, "{\"rank\": %d, \"thread\": %d", lane->rank, lane->lane);
	if (!trace) {
		fputs(", \"note\": ", out);
		json_quote(out, lane->note);
		fputs("}", out);
		return;
	}
	fprintf(out,
		", \"events\": %" PRIu64 ", \"lost\": %" PRIu64
		", \"truncated\": %s, \"symbols\": [",
		trace->num_events, trace->num_lost, trace->is_truncated ? "true" : "false");
	json_symbols(&p);
	fputs("], \"bodies\": [", out);
	for (size_t i = 0; i < trace->num_bodies; i++) {
		fputs(i > 0 ? ", " : "", out);
		json_row(out, &trace->elements[trace->bodies[i].first], trace->bodies[i].num);
	}
	fputs("], \"sequence\": ", out);
	json_row(out, trace->sequence, trace->num);
	fputs("}", out);
}
