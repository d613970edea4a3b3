/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/traces/trace_set.h"
#include "model/arena.h"
#include "model/blobs.h"
#include "model/xalloc.h"

struct trace_set *trace_set_create(struct arena *arena)
{
	struct trace_set *set = arena_alloc(arena, sizeof(*set));

	set->arena = arena;
	set->rows = blobs_in(arena);
	return set;
}

const struct trace_element *trace_set_row(const struct trace_set *set, uint32_t body,
					  size_t *num_ret)
{
	const void *elements = blobs_get(set->rows, TRACE_BODY(body), num_ret);

	*num_ret /= sizeof(struct trace_element);
	return elements;
}

uint64_t trace_set_length(const struct trace_set *set, uint32_t symbol)
{
	return TRACE_IS_LOOP(symbol) ? set->lengths[TRACE_BODY(symbol)] : 1;
}

uint32_t trace_set_first(const struct trace_set *set, uint32_t symbol)
{
	size_t num;

	while (TRACE_IS_LOOP(symbol))
		symbol = trace_set_row(set, symbol, &num)->symbol;
	return symbol;
}

uint32_t trace_set_last(const struct trace_set *set, uint32_t symbol)
{
	while (TRACE_IS_LOOP(symbol)) {
		size_t num;
		const struct trace_element *row = trace_set_row(set, symbol, &num);

		symbol = row[num - 1].symbol;
	}
	return symbol;
}

struct row {
	struct trace_element *elements;
	size_t num, capacity;
};

/* The number of the body, which equal rows have in common. */
static uint32_t intern(struct trace_set *set, const struct row *row)
{
	uint32_t body = blobs_intern(set->rows, row->elements, row->num * sizeof(*row->elements));

	if (body < set->num_bodies)
		return body;
	*ARENA_PUSH(set->arena, set->lengths, set->num_bodies, set->lengths_capacity) = 0;
	for (size_t i = 0; i < row->num; i++)
		set->lengths[body] +=
			row->elements[i].count * trace_set_length(set, row->elements[i].symbol);
	return body;
}

/* Append an element, or make the last one longer that is of the same symbol. */
static void append(struct row *row, struct trace_element e)
{
	struct trace_element *last = row->num > 0 ? &row->elements[row->num - 1] : NULL;

	if (last && last->symbol == e.symbol && last->count <= UINT32_MAX - e.count) {
		last->count += e.count;
		return;
	}
	*XPUSH(row->elements, row->num, row->capacity) = e;
}

/* meanings: the element that a body of the trace is in the set; TRACE_NONE: nothing. */
static void map_row(struct row *row, const struct trace_element *elements, size_t num,
		    const uint32_t *symbols, const struct trace_element *meanings)
{
	row->num = 0;
	for (size_t i = 0; i < num; i++) {
		struct trace_element e = elements[i];
		struct trace_element m = {e.symbol, 1};
		uint32_t times = 1;

		if (TRACE_IS_LOOP(e.symbol))
			m = meanings[TRACE_BODY(e.symbol)];
		else if (symbols)
			m.symbol = symbols[e.symbol];
		if (m.symbol == TRACE_NONE)
			continue;
		if (__builtin_mul_overflow(e.count, m.count, &e.count)) {
			times = elements[i].count;
			e.count = m.count;
		}
		e.symbol = m.symbol;
		for (; times > 0; times--)
			append(row, e);
	}
}

size_t trace_set_add(struct trace_set *set, const struct trace *trace, const uint32_t *symbols)
{
	struct trace_element *meanings SCOPED(free) =
		xcalloc(trace->num_bodies + 1, sizeof(*meanings));
	struct row row = {.num = 0};

	for (size_t i = 0; i < trace->num_bodies; i++) {
		const struct trace_body *body = &trace->bodies[i];

		map_row(&row, &trace->elements[body->first], body->num, symbols, meanings);
		if (row.num == 1)
			meanings[i] = row.elements[0];
		else
			meanings[i] = (struct trace_element){
				row.num ? TRACE_LOOP | intern(set, &row) : TRACE_NONE, 1};
	}
	map_row(&row, trace->sequence, trace->num, symbols, meanings);
	*ARENA_PUSH(set->arena, set->roots, set->num_traces, set->traces_capacity) =
		intern(set, &row);
	free(row.elements);
	return set->num_traces - 1;
}
