/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/verdict/call_contexts.h"

static void name_kinds(struct call_contexts *c, struct arena *arena)
{
	c->kinds = arena_array(arena, c->num_calls, sizeof(*c->kinds));
	memcpy(c->kinds, c->calls, c->num_calls * sizeof(*c->kinds));
	c->num_kinds =
		sorted_make_unique(c->kinds, c->num_calls, sizeof(*c->kinds), sorted_compare_u32);
	for (size_t i = 0; i < c->num_calls; i++) {
		const uint32_t *kind = bsearch(&c->calls[i], c->kinds, c->num_kinds, sizeof(*kind),
					       sorted_compare_u32);

		c->calls[i] = (uint32_t)(kind - c->kinds);
		c->names[0][i] = c->calls[i] + 1;
	}
}

/* The name of the calls that end `back` earlier. */
static uint32_t earlier_name(const struct call_contexts *c, int level, uint32_t at, uint32_t back)
{
	return at - c->start[at] < back ? 0 : c->names[level][at - back];
}

/* Sort from[num_calls] by the name, equal ones as they are; counts: room for num_calls + 2. */
static void sort_by_name(const struct call_contexts *c, int level, uint32_t back,
			 const uint32_t *from, uint32_t *to, uint32_t *counts)
{
	memset(counts, 0, (c->num_calls + 2) * sizeof(*counts));
	for (size_t i = 0; i < c->num_calls; i++)
		counts[earlier_name(c, level, from[i], back) + 1]++;
	for (size_t i = 1; i < c->num_calls + 2; i++)
		counts[i] += counts[i - 1];
	for (size_t i = 0; i < c->num_calls; i++)
		to[counts[earlier_name(c, level, from[i], back)]++] = from[i];
}

/* Names of twice as many calls, from two of this level. */
static void name_twice(struct call_contexts *c, int level, uint32_t *sorted, uint32_t *room,
		       uint32_t *counts)
{
	uint32_t back = UINT32_C(1) << level, *names = c->names[level + 1], name = 0;

	for (size_t i = 0; i < c->num_calls; i++)
		sorted[i] = (uint32_t)i;
	sort_by_name(c, level, back, sorted, room, counts);
	sort_by_name(c, level, 0, room, sorted, counts);
	for (size_t i = 0; i < c->num_calls; i++) {
		uint32_t at = sorted[i], last = i > 0 ? sorted[i - 1] : at;

		name += i == 0 || c->names[level][at] != c->names[level][last] ||
			earlier_name(c, level, at, back) != earlier_name(c, level, last, back);
		names[at] = name;
	}
}

static bool is_followed(const struct call_contexts *c, uint32_t at)
{
	return at + 1 < c->num_calls && c->start[at + 1] == c->start[at];
}

static void sort_moments(struct call_contexts *c, const uint32_t *sorted)
{
	for (size_t i = 0; i < c->num_calls; i++)
		if (is_followed(c, sorted[i])) {
			c->place[sorted[i]] = (uint32_t)c->num_moments;
			c->order[c->num_moments++] = sorted[i];
		}
	for (size_t i = 0; i < c->num_moments; i++)
		c->kind_first[c->calls[c->order[i] + 1] + 1]++;
	for (size_t k = 0; k < c->num_kinds; k++)
		c->kind_first[k + 1] += c->kind_first[k];
	for (size_t i = 0; i < c->num_moments; i++)
		c->followed[c->kind_first[c->calls[c->order[i] + 1]]++] = (uint32_t)i;
	memmove(c->kind_first + 1, c->kind_first, c->num_kinds * sizeof(*c->kind_first));
	c->kind_first[0] = 0;
}

struct call_contexts *call_contexts_create(const struct call_list *lanes, size_t num,
					   size_t max_calls, struct arena *arena)
{
	struct call_contexts *c = arena_alloc(arena, sizeof(*c));
	struct arena *scratch = arena_create();
	uint32_t *sorted, *room, *counts;

	c->num_lanes = num;
	c->first = arena_array(arena, num + 1, sizeof(*c->first));
	for (size_t l = 0; l < num; l++)
		c->first[l + 1] = c->first[l] +
				  (uint32_t)(lanes[l].num < max_calls ? lanes[l].num : max_calls);
	c->num_calls = c->first[num];
	c->calls = arena_array(arena, c->num_calls, sizeof(*c->calls));
	c->start = arena_array(arena, c->num_calls, sizeof(*c->start));
	for (size_t l = 0; l < num; l++) {
		size_t kept = c->first[l + 1] - c->first[l];

		for (size_t i = 0; i < kept; i++) {
			c->calls[c->first[l] + i] = lanes[l].calls[lanes[l].num - kept + i];
			c->start[c->first[l] + i] = c->first[l];
		}
	}
	for (int level = 0; level < CALL_CONTEXT_LEVELS; level++)
		c->names[level] = arena_array(arena, c->num_calls, sizeof(*c->names[level]));
	name_kinds(c, arena);
	sorted = arena_array(scratch, c->num_calls, sizeof(*sorted));
	room = arena_array(scratch, c->num_calls, sizeof(*room));
	counts = arena_array(scratch, c->num_calls + 2, sizeof(*counts));
	for (int level = 0; level + 1 < CALL_CONTEXT_LEVELS; level++)
		name_twice(c, level, sorted, room, counts);
	c->order = arena_array(arena, c->num_calls, sizeof(*c->order));
	c->place = arena_array(arena, c->num_calls, sizeof(*c->place));
	c->followed = arena_array(arena, c->num_calls, sizeof(*c->followed));
	c->kind_first = arena_array(arena, c->num_kinds + 2, sizeof(*c->kind_first));
	sort_moments(c, sorted);
	arena_destroy(scratch);
	return c;
}

size_t call_contexts_count_same(const struct call_contexts *c, uint32_t a, uint32_t b)
{
	size_t most = 1 + (a - c->start[a] < b - c->start[b] ? a - c->start[a] : b - c->start[b]),
	       same = 0;

	for (int level = CALL_CONTEXT_LEVELS - 1;
	     level >= 0 && same < most && same < CALL_CONTEXT_MEMORY; level--)
		if (c->names[level][a - same] == c->names[level][b - same])
			same += (size_t)1 << level;
	return same < most ? same : most;
}

/* Are `memory` calls, 1 to CALL_CONTEXT_MEMORY, before both the same? By two names that overlap. */
static bool are_same(const struct call_contexts *c, uint32_t a, uint32_t b, size_t memory)
{
	uint32_t rest;
	int level = 0;

	while ((size_t)2 << level <= memory)
		level++;
	rest = (uint32_t)(memory - ((size_t)1 << level));
	return a - c->start[a] + 1 >= memory && b - c->start[b] + 1 >= memory &&
	       c->names[level][a] == c->names[level][b] &&
	       c->names[level][a - rest] == c->names[level][b - rest];
}

/* The first place from low to high that is alike, or is not; high if there is none. */
static size_t find_edge(const struct call_contexts *c, uint32_t moment, size_t memory, size_t low,
			size_t high, bool is_alike)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (are_same(c, c->order[middle], moment, memory) == is_alike)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct call_range call_contexts_find_alike(const struct call_contexts *c, uint32_t moment,
					   size_t memory)
{
	size_t place = c->place[moment];

	return (struct call_range){
		find_edge(c, moment, memory, 0, place, true),
		find_edge(c, moment, memory, place + 1, c->num_moments, false),
	};
}

size_t call_contexts_find_followed(const struct call_contexts *c, uint32_t call, size_t place)
{
	uint32_t key = (uint32_t)place;
	size_t first = c->kind_first[call];

	return first + sorted_first(&key, c->followed + first, c->kind_first[call + 1] - first,
				    sizeof(key), sorted_compare_u32);
}
