/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/traces/trace_attributes.h"
#include "model/arena.h"
#include "model/sorted.h"

/* The attributes of one trace, each once at the end. */
struct counted {
	struct trace_attribute *items;
	size_t num, capacity;
};

struct counting {
	struct arena *arena;
	const struct trace_set *set;
	unsigned int kinds;
	uint64_t *times; /* [num_bodies] iterations in the present trace */
	struct counted counted;
};

static int compare_things(const struct trace_attribute *a, const struct trace_attribute *b)
{
	return SORTED_ORDER(a->kind, b->kind) ?: SORTED_ORDER(a->symbol, b->symbol)
					      ?: SORTED_ORDER(a->next, b->next);
}

static int compare_attributes(const void *a, const void *b)
{
	const struct trace_attribute *x = a, *y = b;

	return compare_things(x, y) ?: SORTED_ORDER(x->frequency, y->frequency);
}

static void count(struct counting *c, enum attribute_kind kind, uint32_t symbol, uint32_t next,
		  uint64_t times)
{
	struct counted *counted = &c->counted;

	if (!(c->kinds & kind) || times == 0)
		return;
	*ARENA_PUSH(c->arena, counted->items, counted->num, counted->capacity) =
		(struct trace_attribute){kind, symbol, next, times};
}

/* One body, all of its iterations; what it has inside of it is to be counted later. */
static void count_body(struct counting *c, uint32_t body, uint64_t times)
{
	size_t num;
	const struct trace_element *row = trace_set_row(c->set, body, &num);

	for (size_t i = 0; i < num; i++) {
		uint32_t symbol = row[i].symbol;
		uint32_t first = trace_set_first(c->set, symbol);
		uint32_t last = trace_set_last(c->set, symbol);

		if (TRACE_IS_LOOP(symbol))
			c->times[TRACE_BODY(symbol)] += times * row[i].count;
		else
			count(c, ATTRIBUTE_ENTRY, symbol, 0, times * row[i].count);
		count(c, ATTRIBUTE_PAIR, last, first, times * (row[i].count - 1));
		if (i + 1 < num)
			count(c, ATTRIBUTE_PAIR, last, trace_set_first(c->set, row[i + 1].symbol),
			      times);
	}
}

/* From the root down: a loop has a lower number than what it is in. */
static void count_trace(struct counting *c, uint32_t root)
{
	if (trace_set_length(c->set, TRACE_LOOP | root) > 0)
		count(c, ATTRIBUTE_END, trace_set_last(c->set, TRACE_LOOP | root), 0, 1);
	count_body(c, root, 1);
	for (uint32_t body = root; body-- > 0;) {
		uint64_t times = c->times[body];

		if (times == 0)
			continue;
		c->times[body] = 0;
		count(c, ATTRIBUTE_LOOP, TRACE_LOOP | body, 0, times);
		count_body(c, body, times);
	}
}

static uint64_t log10_of(uint64_t number)
{
	uint64_t log = 0;

	for (; number >= 10; number /= 10)
		log++;
	return log;
}

/* Each thing once, with its frequency as asked for. */
static void unite(struct counted *counted, enum attribute_frequency frequency)
{
	size_t num = 0;

	sorted_make(counted->items, counted->num, sizeof(*counted->items), compare_attributes);
	for (size_t i = 0; i < counted->num; i++)
		if (num > 0 && compare_things(&counted->items[num - 1], &counted->items[i]) == 0)
			counted->items[num - 1].frequency += counted->items[i].frequency;
		else
			counted->items[num++] = counted->items[i];
	counted->num = num;
	for (size_t i = 0; i < num && frequency != FREQUENCY_ACTUAL; i++)
		counted->items[i].frequency =
			frequency == FREQUENCY_NONE ? 0 : log10_of(counted->items[i].frequency);
}

static void number_attributes(struct arena *arena, struct trace_attributes *result,
			      const struct counted *of_roots, size_t num_roots)
{
	size_t num = 0;

	for (size_t r = 0; r < num_roots; r++)
		num += of_roots[r].num;
	result->attributes = arena_array(arena, num, sizeof(*result->attributes));
	for (size_t r = 0; r < num_roots; r++)
		for (size_t i = 0; i < of_roots[r].num; i++)
			result->attributes[result->num_attributes++] = of_roots[r].items[i];
	result->num_attributes = sorted_make_unique(
		result->attributes, num, sizeof(*result->attributes), compare_attributes);
}

static void number_trace(struct arena *arena, struct trace_attributes *result,
			 const struct counted *counted, size_t *num, size_t *capacity)
{
	for (size_t i = 0; i < counted->num; i++) {
		const struct trace_attribute *found =
			bsearch(&counted->items[i], result->attributes, result->num_attributes,
				sizeof(*found), compare_attributes);

		*ARENA_PUSH(arena, result->numbers, *num, *capacity) =
			(uint32_t)(found - result->attributes);
	}
}

struct trace_attributes *trace_attributes_create(struct arena *arena, const struct trace_set *set,
						 unsigned int kinds,
						 enum attribute_frequency frequency)
{
	struct trace_attributes *result = arena_alloc(arena, sizeof(*result));
	struct counting c = {.arena = arena, .set = set, .kinds = kinds};
	/* Of the first trace with each root. */
	struct counted *counted = arena_array(arena, set->num_traces, sizeof(*counted));
	size_t *first = arena_array(arena, set->num_bodies, sizeof(*first));
	size_t num = 0, capacity = 0;

	c.times = arena_array(arena, set->num_bodies, sizeof(*c.times));
	for (size_t t = 0; t < set->num_traces; t++) {
		if (first[set->roots[t]])
			continue;
		first[set->roots[t]] = t + 1;
		count_trace(&c, set->roots[t]);
		unite(&c.counted, frequency);
		counted[t] = c.counted;
		c.counted = (struct counted){.num = 0};
	}
	number_attributes(arena, result, counted, set->num_traces);
	result->num_traces = set->num_traces;
	result->ends = arena_array(arena, set->num_traces, sizeof(*result->ends));
	for (size_t t = 0; t < set->num_traces; t++) {
		number_trace(arena, result, &counted[first[set->roots[t]] - 1], &num, &capacity);
		result->ends[t] = num;
	}
	return result;
}
