/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/traces/trace_set.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/hash.h"
#include "model/xalloc.h"

struct trace_set *trace_set_create(void)
{
	return xcalloc(1, sizeof(struct trace_set));
}

void trace_set_destroy(struct trace_set *set)
{
	if (!set)
		return;
	free(set->bodies);
	free(set->elements);
	free(set->roots);
	free(set->slots);
	free(set);
}

const struct trace_element *trace_set_row(const struct trace_set *set, uint32_t body,
					  size_t *num_ret)
{
	const struct trace_body *b = &set->bodies[TRACE_BODY(body)];

	*num_ret = b->num;
	return &set->elements[b->first];
}

uint64_t trace_set_length(const struct trace_set *set, uint32_t symbol)
{
	return TRACE_IS_LOOP(symbol) ? set->bodies[TRACE_BODY(symbol)].length : 1;
}

uint32_t trace_set_first(const struct trace_set *set, uint32_t symbol)
{
	while (TRACE_IS_LOOP(symbol))
		symbol = set->elements[set->bodies[TRACE_BODY(symbol)].first].symbol;
	return symbol;
}

uint32_t trace_set_last(const struct trace_set *set, uint32_t symbol)
{
	while (TRACE_IS_LOOP(symbol)) {
		const struct trace_body *b = &set->bodies[TRACE_BODY(symbol)];

		symbol = set->elements[b->first + b->num - 1].symbol;
	}
	return symbol;
}

/* ---- Equal rows have equal numbers ---- */

struct row {
	struct trace_element *elements;
	size_t num, capacity;
};

static uint32_t *find_slot(const struct trace_set *set, const struct trace_element *elements,
			   size_t num)
{
	size_t at = hash_bytes(elements, num * sizeof(*elements)) & (set->num_slots - 1);

	for (; set->slots[at]; at = (at + 1) & (set->num_slots - 1)) {
		const struct trace_body *b = &set->bodies[set->slots[at] - 1];

		if (b->num == num && (num == 0 || memcmp(&set->elements[b->first], elements,
							 num * sizeof(*elements)) == 0))
			break;
	}
	return &set->slots[at];
}

static void grow_slots(struct trace_set *set)
{
	if (2 * (set->num_bodies + 1) <= set->num_slots)
		return;
	set->num_slots = set->num_slots ? 2 * set->num_slots : 64;
	free(set->slots);
	set->slots = xcalloc(set->num_slots, sizeof(*set->slots));
	for (size_t i = 0; i < set->num_bodies; i++)
		*find_slot(set, &set->elements[set->bodies[i].first], set->bodies[i].num) =
			(uint32_t)i + 1;
}

static uint32_t intern(struct trace_set *set, const struct row *row)
{
	struct trace_body body = {(uint32_t)set->num_elements, (uint32_t)row->num, 0};
	uint32_t *slot;

	grow_slots(set);
	slot = find_slot(set, row->elements, row->num);
	if (*slot)
		return *slot - 1;
	for (size_t i = 0; i < row->num; i++) {
		set->elements = xgrow(set->elements, set->num_elements, &set->elements_capacity,
				      sizeof(*row->elements));
		set->elements[set->num_elements++] = row->elements[i];
		body.length +=
			row->elements[i].count * trace_set_length(set, row->elements[i].symbol);
	}
	set->bodies =
		xgrow(set->bodies, set->num_bodies, &set->bodies_capacity, sizeof(*set->bodies));
	set->bodies[set->num_bodies++] = body;
	*slot = (uint32_t)set->num_bodies;
	return *slot - 1;
}

/* ---- From a trace ---- */

/* Append an element, or make the last one longer that is of the same symbol. */
static void append(struct row *row, struct trace_element e)
{
	struct trace_element *last = row->num > 0 ? &row->elements[row->num - 1] : NULL;

	if (last && last->symbol == e.symbol && last->count <= UINT32_MAX - e.count) {
		last->count += e.count;
		return;
	}
	row->elements = xgrow(row->elements, row->num, &row->capacity, sizeof(e));
	row->elements[row->num++] = e;
}

/* What a body of the trace is in the set, as the symbol of an element; TRACE_NONE: nothing. Of a
 * body that is one element now, that one, so often. */
struct meaning {
	uint32_t symbol, count;
};

static void map_row(struct row *row, const struct trace_element *elements, size_t num,
		    const uint32_t *symbols, const struct meaning *meanings)
{
	row->num = 0;
	for (size_t i = 0; i < num; i++) {
		struct trace_element e = elements[i];
		struct meaning m = {e.symbol, 1};
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
	struct meaning *meanings = xcalloc(trace->num_bodies + 1, sizeof(*meanings));
	struct row row = {.num = 0};

	for (size_t i = 0; i < trace->num_bodies; i++) {
		const struct trace_body *body = &trace->bodies[i];

		map_row(&row, &trace->elements[body->first], body->num, symbols, meanings);
		if (row.num == 0)
			meanings[i] = (struct meaning){TRACE_NONE, 1};
		else if (row.num == 1)
			meanings[i] =
				(struct meaning){row.elements[0].symbol, row.elements[0].count};
		else
			meanings[i] = (struct meaning){TRACE_LOOP | intern(set, &row), 1};
	}
	map_row(&row, trace->sequence, trace->num, symbols, meanings);
	set->roots = xgrow(set->roots, set->num_traces, &set->traces_capacity, sizeof(*set->roots));
	set->roots[set->num_traces] = intern(set, &row);
	free(row.elements);
	free(meanings);
	return set->num_traces++;
}
