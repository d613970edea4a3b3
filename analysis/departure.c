/* SPDX-License-Identifier: BSD-3-Clause
 * Calls before a call are found again in all lanes by sorting: each call gets a name for the 1, 2,
 * 4 .. 256 calls up to itself, the same for those that are alike and in the order of these read
 * backwards (U. Manber, G. Myers, "Suffix arrays: a new method for on-line string searches", SIAM
 * J. Comput. 22(5), 1993). */
#include "analysis/departure.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/xalloc.h"

enum { LEVELS = 9 }; /* 2^8 = DEPARTURE_MEMORY */

/* A moment of a lane is known by the last call before it. */
struct courses {
	size_t num_lanes, num_calls, num_kinds;
	uint32_t *first;         /* [num_lanes + 1] of its calls */
	uint32_t *calls;         /* [num_calls] of one lane after the other: an index of kinds */
	uint32_t *kinds;         /* [num_kinds] calls, as they were given */
	uint32_t *start;         /* [num_calls] the first call of the lane */
	uint32_t *names[LEVELS]; /* [num_calls] of 2^level calls; 0: there are none */
	/* Moments that a call followed, sorted by the calls before them; */
	size_t num_moments;
	uint32_t *order;
	uint32_t *place;      /* [num_calls] where a moment is in it */
	uint32_t *followed;   /* [num_moments] places, sorted, by what followed */
	uint32_t *kind_first; /* [num_kinds + 1] of followed */
};

/* Places that lie side by side, from first to before end. */
struct range {
	size_t first, end;
};

static int compare_calls(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* ---- Sorting ----------------------------------------------------------------------------------
 */

static void name_kinds(struct courses *c)
{
	c->kinds = xcalloc(c->num_calls + 1, sizeof(*c->kinds));
	memcpy(c->kinds, c->calls, c->num_calls * sizeof(*c->kinds));
	qsort(c->kinds, c->num_calls, sizeof(*c->kinds), compare_calls);
	for (size_t i = 0; i < c->num_calls; i++)
		if (i == 0 || c->kinds[i] != c->kinds[i - 1])
			c->kinds[c->num_kinds++] = c->kinds[i];
	for (size_t i = 0; i < c->num_calls; i++) {
		const uint32_t *kind =
			bsearch(&c->calls[i], c->kinds, c->num_kinds, sizeof(*kind), compare_calls);

		c->calls[i] = (uint32_t)(kind - c->kinds);
		c->names[0][i] = c->calls[i] + 1;
	}
}

/* The name of the calls that end `back` earlier. */
static uint32_t earlier_name(const struct courses *c, int level, uint32_t at, uint32_t back)
{
	return at - c->start[at] < back ? 0 : c->names[level][at - back];
}

/* Sort from[num_calls] by the name, equal ones as they are; counts: room for num_calls + 2. */
static void sort_by_name(const struct courses *c, int level, uint32_t back, const uint32_t *from,
			 uint32_t *to, uint32_t *counts)
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
static void name_twice(struct courses *c, int level, uint32_t *sorted, uint32_t *room,
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

static bool is_followed(const struct courses *c, uint32_t at)
{
	return at + 1 < c->num_calls && c->start[at + 1] == c->start[at];
}

static void sort_moments(struct courses *c, const uint32_t *sorted)
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

struct courses *courses_create(const struct course_calls *lanes, size_t num, size_t max_calls)
{
	struct courses *c = xcalloc(1, sizeof(*c));
	uint32_t *sorted, *room, *counts;

	c->num_lanes = num;
	c->first = xcalloc(num + 1, sizeof(*c->first));
	for (size_t l = 0; l < num; l++)
		c->first[l + 1] = c->first[l] +
				  (uint32_t)(lanes[l].num < max_calls ? lanes[l].num : max_calls);
	c->num_calls = c->first[num];
	c->calls = xcalloc(c->num_calls + 1, sizeof(*c->calls));
	c->start = xcalloc(c->num_calls + 1, sizeof(*c->start));
	for (size_t l = 0; l < num; l++) {
		size_t kept = c->first[l + 1] - c->first[l];

		for (size_t i = 0; i < kept; i++) {
			c->calls[c->first[l] + i] = lanes[l].calls[lanes[l].num - kept + i];
			c->start[c->first[l] + i] = c->first[l];
		}
	}
	for (int level = 0; level < LEVELS; level++)
		c->names[level] = xcalloc(c->num_calls + 1, sizeof(*c->names[level]));
	name_kinds(c);
	sorted = xcalloc(c->num_calls + 1, sizeof(*sorted));
	room = xcalloc(c->num_calls + 1, sizeof(*room));
	counts = xcalloc(c->num_calls + 2, sizeof(*counts));
	for (int level = 0; level + 1 < LEVELS; level++)
		name_twice(c, level, sorted, room, counts);
	c->order = xcalloc(c->num_calls + 1, sizeof(*c->order));
	c->place = xcalloc(c->num_calls + 1, sizeof(*c->place));
	c->followed = xcalloc(c->num_calls + 1, sizeof(*c->followed));
	c->kind_first = xcalloc(c->num_kinds + 2, sizeof(*c->kind_first));
	sort_moments(c, sorted);
	free(sorted);
	free(room);
	free(counts);
	return c;
}

void courses_destroy(struct courses *courses)
{
	if (!courses)
		return;
	for (int level = 0; level < LEVELS; level++)
		free(courses->names[level]);
	free(courses->first);
	free(courses->calls);
	free(courses->kinds);
	free(courses->start);
	free(courses->order);
	free(courses->place);
	free(courses->followed);
	free(courses->kind_first);
	free(courses);
}

/* ---- Finding ----------------------------------------------------------------------------------
 */

/* How many calls before both moments are the same, up to DEPARTURE_MEMORY. */
static size_t count_same(const struct courses *c, uint32_t a, uint32_t b)
{
	size_t most = 1 + (a - c->start[a] < b - c->start[b] ? a - c->start[a] : b - c->start[b]),
	       same = 0;

	for (int level = LEVELS - 1; level >= 0 && same < most && same < DEPARTURE_MEMORY; level--)
		if (c->names[level][a - same] == c->names[level][b - same])
			same += (size_t)1 << level;
	return same < most ? same : most;
}

/* Are so many calls, 1 to DEPARTURE_MEMORY, before both moments the same? By two names that
 * overlap. */
static bool are_same(const struct courses *c, uint32_t a, uint32_t b, size_t memory)
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

/* The places of moments with the same `memory` calls before them. */
static struct range find_alike(const struct courses *c, uint32_t moment, size_t memory)
{
	struct range range = {c->place[moment], c->place[moment] + 1u};
	size_t low = 0, high = c->num_moments;

	while (low < range.first) {
		size_t middle = low + (range.first - low) / 2;

		if (are_same(c, c->order[middle], moment, memory))
			range.first = middle;
		else
			low = middle + 1;
	}
	while (range.end < high) {
		size_t middle = range.end + (high - range.end) / 2;

		if (are_same(c, c->order[middle], moment, memory))
			range.end = middle + 1;
		else
			high = middle;
	}
	return range;
}

/* A call of a lane, and the moment before it. What the lane did from then on does not count as what
 * was before. */
struct step {
	uint32_t moment, call;
	uint32_t first, end; /* moments of the lane */
};

static bool is_before(const struct step *step, uint32_t moment)
{
	return moment < step->moment || moment >= step->end;
}

static bool is_within(const struct range *range, size_t place)
{
	return place >= range->first && place < range->end;
}

/* The most calls back to which the step has been made before, or 0. */
static size_t find_longest(const struct courses *c, const struct step *step)
{
	const uint32_t *list = c->followed + c->kind_first[step->call];
	size_t num = c->kind_first[step->call + 1] - c->kind_first[step->call], low = 0,
	       longest = 0;

	for (size_t high = num; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (list[middle] < c->place[step->moment])
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- > 0;)
		if (is_before(step, c->order[list[i]])) {
			longest = count_same(c, c->order[list[i]], step->moment);
			break;
		}
	for (size_t i = low; i < num; i++)
		if (is_before(step, c->order[list[i]])) {
			size_t same = count_same(c, c->order[list[i]], step->moment);

			return same > longest ? same : longest;
		}
	return longest;
}

/* How many moments of the range count as before; of them, the lane's own. */
static size_t count_before(const struct courses *c, const struct step *step,
			   const struct range *range, size_t *num_own_ret)
{
	size_t num = range->end - range->first;

	*num_own_ret = 0;
	for (uint32_t at = step->first; at < step->moment; at++)
		*num_own_ret += is_within(range, c->place[at]);
	for (uint32_t at = step->moment; at < step->end; at++)
		num -= is_within(range, c->place[at]);
	return num;
}

/* How often the step was made from moments of the range, before. */
static size_t count_made(const struct courses *c, const struct step *step,
			 const struct range *range)
{
	size_t num = 0;

	for (size_t i = c->kind_first[step->call]; i < c->kind_first[step->call + 1]; i++)
		num += is_within(range, c->followed[i]) &&
		       is_before(step, c->order[c->followed[i]]);
	return num;
}

/* How often it would have been made in `num_times`, were it as common then as after one call of
 * memory less. */
static double expected_times(const struct courses *c, const struct step *step, size_t memory,
			     size_t num_times)
{
	struct range range = find_alike(c, step->moment, memory);
	size_t num_own, num = count_before(c, step, &range, &num_own);

	return (double)num_times * (double)count_made(c, step, &range) / (double)num;
}

/* What followed the moments of the range, mostly; how many kinds of calls did so seldom. */
static void find_usual(const struct courses *c, const struct step *step, const struct range *range,
		       struct departure *ret, size_t *num_seldom_ret)
{
	size_t *counts = xcalloc(c->num_kinds, sizeof(*counts));

	for (size_t i = range->first; i < range->end; i++)
		if (is_before(step, c->order[i]))
			counts[c->calls[c->order[i] + 1]]++;
	*num_seldom_ret = 0;
	for (size_t k = 0; k < c->num_kinds; k++) {
		if (counts[k] > ret->num_usual) {
			ret->num_usual = counts[k];
			ret->usual = c->kinds[k];
		}
		*num_seldom_ret += counts[k] > 0 && counts[k] < DEPARTURE_SELDOM;
	}
	free(counts);
}

/* The least memory after which the call was never made: has the lane come by that often, and is it
 * no chance? */
static bool is_departure(const struct courses *c, const struct step *step, double expected,
			 struct departure *ret)
{
	size_t memory = find_longest(c, step) + 1, num_seldom, num_others;
	struct range range;

	if (memory > DEPARTURE_MEMORY)
		return false;
	range = find_alike(c, step->moment, memory);
	if (range.end - range.first <= DEPARTURE_OFTEN)
		return false;
	*ret = (struct departure){.since = step->end - 1 - step->moment,
				  .last = c->kinds[c->calls[step->moment]],
				  .call = c->kinds[step->call],
				  .num_memory = memory};
	ret->num_times = count_before(c, step, &range, &ret->num_own);
	num_others = c->num_lanes > 1 ? ret->num_times - ret->num_own : ret->num_times;
	if (num_others < DEPARTURE_OFTEN || ret->num_own < DEPARTURE_OWN ||
	    (memory > 1 && expected_times(c, step, memory - 1, ret->num_times) < expected))
		return false;
	find_usual(c, step, &range, ret, &num_seldom);
	return memory > 1 || num_seldom == 0;
}

enum course courses_find(const struct courses *courses, size_t lane,
			 const struct departure_limits *limits, struct departure *ret)
{
	uint32_t first = courses->first[lane], end = courses->first[lane + 1];
	size_t looked = 2 * limits->window + DEPARTURE_CLEAN, num = end - first, kept,
	       num_departures = 0;

	if (num < DEPARTURE_MIN_CALLS)
		return COURSE_UNKNOWN;
	/* The first of all has no call before it. */
	if (looked > num - 1)
		looked = num - 1;
	kept = 0;
	for (uint32_t at = end - (uint32_t)looked; at < end; at++, kept++) {
		struct step step = {at - 1, courses->calls[at], first, end - 1};
		struct departure departure;

		if (!is_departure(courses, &step, limits->expected, &departure))
			continue;
		if (departure.since < limits->window &&
		    kept >= departure.since + 1 + DEPARTURE_CLEAN) {
			*ret = departure;
			return COURSE_LEFT;
		}
		num_departures += departure.since < limits->window + DEPARTURE_CLEAN;
		kept = 0;
	}
	return num_departures > 0 ? COURSE_UNKNOWN : COURSE_KEPT;
}
