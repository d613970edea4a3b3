/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/trace/trace.h"

#include "model/codec.h"

void trace_destroy(struct trace *trace)
{
	if (!trace || trace->num_shared-- > 0)
		return;
	free(trace->sequence);
	free(trace->bodies);
	free(trace->elements);
	free(trace);
}

struct trace *trace_share(struct trace *trace)
{
	if (trace)
		trace->num_shared++;
	return trace;
}

const struct trace_element *trace_body_of(const struct trace *trace, uint32_t loop,
					  uint32_t *num_ret)
{
	const struct trace_body *body = &trace->bodies[TRACE_BODY(loop)];

	*num_ret = body->num;
	return &trace->elements[body->first];
}

/* Events of one iteration; of a symbol that is no loop 1. */
static uint64_t trace_length(const struct trace *trace, uint32_t symbol)
{
	return TRACE_IS_LOOP(symbol) ? trace->bodies[TRACE_BODY(symbol)].length : 1;
}

struct check {
	const struct trace *trace;
	uint32_t num_symbols;
	uint8_t *depths; /* of the bodies seen */
	struct pdb_error *err;
};

/* A row of elements that may be loops of the first num_bodies: its events and depth. */
static int check_row(const struct check *c, const struct trace_element *row, size_t num,
		     size_t num_bodies, uint64_t *events_ret, uint32_t *depth_ret)
{
	uint64_t events = 0, length;
	uint32_t depth = 0;

	for (size_t i = 0; i < num; i++) {
		const struct trace_element *e = &row[i];
		uint32_t body = TRACE_BODY(e->symbol);
		bool is_loop = TRACE_IS_LOOP(e->symbol);

		if (is_loop ? body >= num_bodies : e->symbol >= c->num_symbols)
			return error_set(c->err, ERROR_FORMAT, "the trace is corrupt: symbol %#x",
					 e->symbol);
		if (e->count < (is_loop ? 2 : 1))
			return error_set(c->err, ERROR_FORMAT, "the trace is corrupt: count %u",
					 e->count);
		if (is_loop && c->depths[body] > depth)
			depth = c->depths[body];
		length = trace_length(c->trace, e->symbol);
		if (__builtin_mul_overflow(length, e->count, &length) ||
		    __builtin_add_overflow(events, length, &events))
			return error_set(c->err, ERROR_FORMAT, "the trace is corrupt: too long");
	}
	*events_ret = events;
	*depth_ret = depth;
	return 0;
}

static int check_bodies(const struct check *c)
{
	const struct trace *trace = c->trace;

	for (size_t i = 0; i < trace->num_bodies; i++) {
		const struct trace_body *body = &trace->bodies[i];
		uint64_t length;
		uint32_t depth;

		if (body->num < 2 || body->first > trace->num_elements ||
		    body->num > trace->num_elements - body->first)
			return error_set(c->err, ERROR_FORMAT, "the trace is corrupt: body %zu", i);
		if (check_row(c, &trace->elements[body->first], body->num, i, &length, &depth) < 0)
			return -1;
		if (length != body->length || depth >= TRACE_MAX_DEPTH)
			return error_set(c->err, ERROR_FORMAT, "the trace is corrupt: body %zu", i);
		c->depths[i] = depth + 1;
	}
	return 0;
}

int trace_validate(const struct trace *trace, uint32_t num_symbols, struct pdb_error *err)
{
	struct check c = {trace, num_symbols, xcalloc(trace->num_bodies + 1, 1), err};
	uint64_t events;
	uint32_t depth;
	int status = -1;

	if (check_bodies(&c) == 0 &&
	    check_row(&c, trace->sequence, trace->num, trace->num_bodies, &events, &depth) == 0)
		status = events == trace->num_events
				 ? 0
				 : error_set(err, ERROR_FORMAT,
					     "the trace is corrupt: not %llu events",
					     (unsigned long long)trace->num_events);
	free(c.depths);
	return status;
}

static void append(struct trace *trace, size_t *capacity, uint32_t symbol, uint32_t count)
{
	trace->sequence = xgrow(trace->sequence, trace->num, capacity, sizeof(*trace->sequence));
	trace->sequence[trace->num++] = (struct trace_element){symbol, count};
}

/* So many of a symbol; one iteration of a loop is its elements. */
static void append_times(struct trace *trace, size_t *capacity, uint32_t symbol, uint64_t count)
{
	uint32_t num;

	if (count > 1 || (count == 1 && !TRACE_IS_LOOP(symbol)))
		append(trace, capacity, symbol, (uint32_t)count);
	if (count != 1 || !TRACE_IS_LOOP(symbol))
		return;
	const struct trace_element *row = trace_body_of(trace, symbol, &num);
	for (uint32_t i = 0; i < num; i++)
		append(trace, capacity, row[i].symbol, row[i].count);
}

int trace_add_open(struct trace *trace, uint32_t symbol, uint64_t events, struct pdb_error *err)
{
	size_t capacity = trace->num;
	uint64_t length = trace_length(trace, symbol);

	if (events / length > UINT32_MAX)
		return error_set(err, ERROR_FORMAT, "the trace is corrupt: too long");
	append_times(trace, &capacity, symbol, events / length);
	events %= length;
	while (events > 0) {
		uint32_t num;
		const struct trace_element *row = trace_body_of(trace, symbol, &num);

		for (; trace_length(trace, row->symbol) * row->count <= events; row++) {
			append(trace, &capacity, row->symbol, row->count);
			events -= trace_length(trace, row->symbol) * row->count;
		}
		symbol = row->symbol;
		append_times(trace, &capacity, symbol, events / trace_length(trace, symbol));
		events %= trace_length(trace, symbol);
	}
	return 0;
}

void trace_walk_init(struct trace_walk *walk, const struct trace *trace)
{
	walk->trace = trace;
	walk->num_levels = 1;
	walk->levels[0].begin = walk->levels[0].at = trace->sequence;
	walk->levels[0].end = trace->sequence + trace->num;
	walk->levels[0].left = 1;
}

bool trace_walk_next(struct trace_walk *walk, uint32_t *symbol_ret, uint32_t *count_ret)
{
	while (walk->num_levels > 0) {
		uint32_t level = walk->num_levels - 1, num;
		const struct trace_element *e = walk->levels[level].at;

		if (e == walk->levels[level].end) {
			walk->levels[level].at = walk->levels[level].begin;
			walk->num_levels -= --walk->levels[level].left == 0;
			continue;
		}
		walk->levels[level].at++;
		if (!TRACE_IS_LOOP(e->symbol)) {
			*symbol_ret = e->symbol;
			*count_ret = e->count;
			return true;
		}
		level = walk->num_levels++;
		walk->levels[level].begin = trace_body_of(walk->trace, e->symbol, &num);
		walk->levels[level].at = walk->levels[level].begin;
		walk->levels[level].end = walk->levels[level].begin + num;
		walk->levels[level].left = e->count;
	}
	return false;
}

static void element(struct codec *c, struct trace_element *e)
{
	uint64_t symbol = (uint64_t)TRACE_BODY(e->symbol) << 1 | TRACE_IS_LOOP(e->symbol);

	CODEC_BELOW(c, symbol, UINT32_MAX);
	CODEC(c, e->count);
	if (c->from)
		e->symbol = (uint32_t)(symbol >> 1) | (symbol & 1 ? TRACE_LOOP : 0);
}

/* Of a body, whose elements refer to those before it. */
static void elements(struct codec *c, struct trace *trace, size_t number, size_t *capacity)
{
	struct trace_body *body = &trace->bodies[number];
	size_t num = body->num;

	codec_count(c, &num, UINT32_MAX, 2);
	if (c->from)
		*body = (struct trace_body){(uint32_t)trace->num_elements, (uint32_t)num, 0};
	for (size_t i = 0; i < num && codec_goes_on(c); i++) {
		struct trace_element e = {0};

		if (c->to)
			e = trace->elements[body->first + i];
		element(c, &e);
		if (c->to)
			continue;
		codec_refuse(c, TRACE_IS_LOOP(e.symbol) && TRACE_BODY(e.symbol) >= number);
		if (codec_goes_on(c))
			body->length += e.count * trace_length(trace, e.symbol);
		trace->elements = xgrow(trace->elements, trace->num_elements, capacity, sizeof(e));
		trace->elements[trace->num_elements++] = e;
	}
}

static void fields(struct codec *c, struct trace *trace)
{
	uint64_t is_truncated = trace->is_truncated;
	size_t capacity = 0;

	CODEC_TABLE(c, trace->bodies, trace->num_bodies, UINT32_MAX, 2);
	for (size_t i = 0; i < trace->num_bodies && codec_goes_on(c); i++)
		elements(c, trace, i, &capacity);
	CODEC_TABLE(c, trace->sequence, trace->num, UINT32_MAX, 2);
	for (size_t i = 0; i < trace->num && codec_goes_on(c); i++)
		element(c, &trace->sequence[i]);
	CODEC(c, trace->num_events);
	CODEC(c, trace->num_lost);
	CODEC(c, is_truncated);
	if (c->from)
		trace->is_truncated = is_truncated != 0;
}

void trace_encode(const struct trace *trace, struct buffer *b)
{
	fields(&(struct codec){.to = b}, (struct trace *)trace);
}

struct trace *trace_decode(const uint8_t *bytes, size_t size, uint32_t num_symbols,
			   struct pdb_error *err)
{
	struct decoder in = {.at = bytes, .end = bytes + size, .memory = UINT64_MAX};
	struct trace *trace = xcalloc(1, sizeof(*trace));

	fields(&(struct codec){.from = &in}, trace);
	decoder_end(&in);
	if (in.is_bad)
		error_set(err, ERROR_FORMAT, "the trace is corrupt");
	else if (trace_validate(trace, num_symbols, err) == 0)
		return trace;
	trace_destroy(trace);
	return NULL;
}
